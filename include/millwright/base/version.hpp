// The version of this build, as CMake's project() states it.
#pragma once

namespace millwright::base {

const char* version();  // "0.1.0"

}  // namespace millwright::base
