#include "cloud/aws/keys/profile_file.hpp"

#include "cloud/common/text/text.hpp"

#include <algorithm>

namespace millwright::cloud::aws {
namespace {

using base::ErrorKind;

// "profile dev" in the config file, "dev" in the credentials file. Empty for other sections
// (sso-session, services), which are no profiles.
std::string section_profile(std::string_view title, bool in_config) {
  title = trimmed(title);
  if (!in_config || title == "default") {
    return std::string(title);
  }
  constexpr std::string_view kSectionPrefix = "profile";
  if (!title.starts_with(kSectionPrefix) || title.size() == kSectionPrefix.size() ||
      (title[kSectionPrefix.size()] != ' ' && title[kSectionPrefix.size()] != '\t')) {
    return {};
  }
  return std::string(trimmed(title.substr(kSectionPrefix.size())));
}

// A comment may follow a value after white space.
std::string_view without_comment(std::string_view value) {
  for (const std::string_view mark : {" #", " ;", "\t#", "\t;"}) {
    value = value.substr(0, value.find(mark));
  }
  return trimmed(value);
}

base::Result<Profiles> load_one(const ProcessEnvironment& environment, const std::string& path,
                                bool in_config) {
  const auto text = environment.read_file(path);
  if (!text) {
    if (text.error().kind == ErrorKind::NotFound) {
      return Profiles{};
    }
    return tl::unexpected(text.error());
  }
  return parse_profiles(*text, in_config, path);
}

}  // namespace

base::Result<Profiles> parse_profiles(std::string_view text, bool in_config,
                                      std::string_view file) {
  Profiles profiles;
  Profile* current = nullptr;
  Profile ignored;
  int number = 0;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++number;
    const auto content = trimmed(line);
    const auto problem = [&](std::string_view what) {
      return base::fail(ErrorKind::Invalid, std::string(file).append(":").append(
                                                std::to_string(number).append(": ").append(what)));
    };
    // Indented lines belong to the nested setting above them ("s3 ="), which we do not need.
    if (content.empty() || content.front() == '#' || content.front() == ';' ||
        line.front() == ' ' || line.front() == '\t') {
      continue;
    }
    if (content.front() == '[') {
      const auto close = content.find(']');
      if (close == std::string_view::npos) {
        return problem("expected ] at the end of the section");
      }
      const auto name = section_profile(content.substr(1, close - 1), in_config);
      current = name.empty() ? &ignored : &profiles[name];
      continue;
    }
    const auto equals = content.find('=');
    if (equals == std::string_view::npos) {
      return problem("expected \"key = value\"");
    }
    if (current == nullptr) {
      return problem("expected a section such as [default] first");
    }
    (*current)[lower_case(trimmed(content.substr(0, equals)))] =
        without_comment(content.substr(equals + 1));
  }
  return profiles;
}

base::Result<Profiles> load_profiles(const ProcessEnvironment& environment) {
  const auto path_of = [&](const std::string& variable, std::string_view usual) {
    const auto path = environment.text(variable);
    return path.empty() ? environment.text("HOME").append("/.aws/").append(usual) : path;
  };
  MW_TRY(profiles, load_one(environment, path_of("AWS_CONFIG_FILE", "config"), true));
  MW_TRY(secrets,
         load_one(environment, path_of("AWS_SHARED_CREDENTIALS_FILE", "credentials"), false));
  for (auto& [name, settings] : secrets) {
    for (auto& [key, value] : settings) {
      profiles[name][key] = std::move(value);
    }
  }
  return profiles;
}

std::string profile_name(const ProcessEnvironment& environment) {
  const auto name = environment.text("AWS_PROFILE");
  return name.empty() ? "default" : name;
}

}  // namespace millwright::cloud::aws
