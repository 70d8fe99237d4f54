// Files that settings name.
#pragma once

#include "millwright/base/result.hpp"

#include <string>

namespace millwright::app {

// At most 1 MiB, which is as much as a ConfigMap holds. The error goes on from the setting's name:
// "names PATH, which cannot be read or has more than 1 MiB".
base::Result<std::string> read_setting_file(const std::string& path);

}  // namespace millwright::app
