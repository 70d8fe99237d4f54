// Small operations on ASCII text.
#pragma once

#include <string>
#include <string_view>

namespace millwright::cloud {

// Without white space at either end.
std::string_view trimmed(std::string_view text);
std::string lower_case(std::string_view text);

}  // namespace millwright::cloud
