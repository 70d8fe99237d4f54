// Which build this is.
#pragma once

namespace millwright::base {

const char* version();  // as CMake's project() states it: "0.1.0"
const char* commit();   // seven digits of the commit that it was configured from; empty: not known

}  // namespace millwright::base
