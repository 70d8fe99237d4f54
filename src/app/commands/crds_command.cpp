#include "app/commands/crds_command.hpp"

#include "millwright/schema/schema.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace millwright::app {
namespace {

std::string crd_file_name(const schema::Kind& kind) {
  const auto& resource = schema::resource_of(kind);
  return std::string(resource.group) + "_" + std::string(resource.plural) + ".yaml";
}

}  // namespace

int run_crds(const std::string& directory) {
  for (const auto* kind : schema::all_kinds()) {
    if (directory.empty()) {
      std::printf("---\n%s", schema::crd_yaml(*kind).c_str());
      continue;
    }
    const auto path = std::filesystem::path(directory) / crd_file_name(*kind);
    std::ofstream file(path, std::ios::trunc);
    file << schema::crd_yaml(*kind);
    if (!file.flush()) {
      std::fprintf(stderr, "crds: cannot write %s\n", path.c_str());
      return 1;
    }
  }
  return 0;
}

}  // namespace millwright::app
