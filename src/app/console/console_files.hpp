// The files of src/app/console/page, as CMake puts them into the program.
#pragma once

#include <string_view>

namespace millwright::app {

extern const std::string_view kConsoleHtml;
extern const std::string_view kConsoleCss;
extern const std::string_view kConsoleJs;

}  // namespace millwright::app
