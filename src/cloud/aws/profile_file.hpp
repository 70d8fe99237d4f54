// AWS's shared files, ~/.aws/credentials and ~/.aws/config: INI sections of settings by profile.
#pragma once

#include "cloud/aws/environment.hpp"

#include <map>
#include <string>
#include <string_view>

namespace millwright::cloud::aws {

using Profile = std::map<std::string, std::string, std::less<>>;  // keys in lower case
using Profiles = std::map<std::string, Profile, std::less<>>;

// `in_config`: sections are named "profile x" (but "default"), as in ~/.aws/config. Tolerant of
// what it does not know; Invalid names the file and line of what is no INI, never its content.
base::Result<Profiles> parse_profiles(std::string_view text, bool in_config, std::string_view file);

// Both files together; the credentials file wins. No file at all gives no profiles.
base::Result<Profiles> load_profiles(const Surroundings& surroundings);
// AWS_PROFILE, else "default".
std::string profile_name(const Surroundings& surroundings);

}  // namespace millwright::cloud::aws
