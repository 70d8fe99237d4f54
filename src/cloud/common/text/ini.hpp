// INI text, as the clouds' own tools keep credentials in.
#pragma once

#include "millwright/base/result.hpp"

#include <map>
#include <string>
#include <string_view>

namespace millwright::cloud {

using IniSection = std::map<std::string, std::string, std::less<>>;  // keys in lower case
using IniSections = std::map<std::string, IniSection, std::less<>>;  // by title

// Indented lines belong to a nested setting above them and are ignored, as comments are. Invalid
// names the file and line of malformed text, never its content.
base::Result<IniSections> parse_ini(std::string_view text, std::string_view file);

}  // namespace millwright::cloud
