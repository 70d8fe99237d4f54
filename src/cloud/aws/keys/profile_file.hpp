// AWS's shared files, ~/.aws/credentials and ~/.aws/config: INI sections of settings by profile.
#pragma once

#include "cloud/common/environment.hpp"
#include "cloud/common/text/ini.hpp"

#include <string>
#include <string_view>

namespace millwright::cloud::aws {

using Profile = IniSection;
using Profiles = IniSections;

// `in_config`: sections are named "profile x" (but "default"), as in ~/.aws/config. Unknown
// settings are ignored. Invalid names the file and line of malformed text, never its content.
base::Result<Profiles> parse_profiles(std::string_view text, bool in_config, std::string_view file);

// Both files together; the credentials file wins. Empty when there is no file.
base::Result<Profiles> load_profiles(const ProcessEnvironment& environment);
// AWS_PROFILE, else "default".
std::string profile_name(const ProcessEnvironment& environment);

}  // namespace millwright::cloud::aws
