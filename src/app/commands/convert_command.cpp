#include "app/commands/convert_command.hpp"

#include "millwright/app/convert.hpp"
#include "millwright/model/kinds.hpp"

#include <charconv>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

namespace millwright::app {
namespace {

constexpr std::size_t kLargestFile = 16U << 20;

base::Result<std::string> read_manifest(const std::string& path) {
  std::ifstream file;
  if (path != "-") {
    file.open(path);
    if (!file) {
      return base::fail(base::ErrorKind::NotFound, "cannot read " + path);
    }
  }
  std::istream& in = path == "-" ? std::cin : file;
  std::string text(kLargestFile + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kLargestFile) {
    return base::fail(base::ErrorKind::Invalid, path + " is larger than 16 MiB; split it");
  }
  return text;
}

// The 33 of "1.33" or "v1.33.2"; 0 for none.
base::Result<int> minor_of(std::string_view version) {
  if (version.empty()) {
    return 0;
  }
  const auto dot = version.find('.');
  int minor = 0;
  if (dot != std::string_view::npos) {
    std::from_chars(version.data() + dot + 1, version.data() + version.size(), minor);
  }
  if (minor <= 0) {
    return base::fail(base::ErrorKind::Invalid, "--kubernetes-version must be like 1.33, not \"" +
                                                    std::string(version) + "\"");
  }
  return minor;
}

base::Result<cloud::EcsGroup> ecs_group_of(const std::string& group) {
  if (group == model::kOfficialEcsNodeClassResource.group) {
    return cloud::EcsGroup::Official;
  }
  if (group.empty() || group == model::kEcsNodeClassResource.group) {
    return cloud::EcsGroup::Served;
  }
  return base::fail(base::ErrorKind::Invalid,
                    "--ecs-group must be karpenter.k8s.alibabacloud or "
                    "karpenter.alibabacloud.com, not \"" +
                        group + "\"");
}

base::Result<Conversion> convert(const ConvertArguments& arguments) {
  controllers::LegacySettings settings;
  MW_TRY(minor, minor_of(arguments.kubernetes_version));
  settings.kubernetes_minor = minor;
  if (!arguments.node_role.empty()) {
    settings.node_role = arguments.node_role;
  }
  MW_TRY(text, read_manifest(arguments.file));
  MW_TRY(ecs_group, ecs_group_of(arguments.ecs_group));
  auto converted = convert_manifests(text, std::move(settings), ecs_group);
  return converted ? std::move(converted)
                   : base::with_context(arguments.file, std::move(converted).error());
}

}  // namespace

int run_convert(const ConvertArguments& arguments) {
  const auto converted = convert(arguments);
  if (!converted) {
    std::fprintf(stderr, "convert: %s\n", converted.error().message.c_str());
    return 2;
  }
  std::fwrite(converted->text.data(), 1, converted->text.size(), stdout);
  for (const auto& note : converted->notes) {
    std::fprintf(stderr, "note: %s\n", note.c_str());
  }
  for (const auto& problem : converted->problems) {
    std::fprintf(stderr, "problem: %s\n", problem.c_str());
  }
  return converted->problems.empty() ? 0 : 1;
}

}  // namespace millwright::app
