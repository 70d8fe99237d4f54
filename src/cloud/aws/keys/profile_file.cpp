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
  MW_TRY(sections, parse_ini(text, file));
  Profiles profiles;
  for (auto& [title, settings] : sections) {
    const auto name = section_profile(title, in_config);
    if (!name.empty()) {
      profiles[name].merge(settings);
    }
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
