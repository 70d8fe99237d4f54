// Small operations on ASCII text.
#pragma once

#include "millwright/base/text.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace millwright::cloud {

using base::trimmed;

std::string lower_case(std::string_view text);
// The parts between separators, empty ones included: always one at least. Views into `text`.
std::vector<std::string_view> split(std::string_view text, char separator);

}  // namespace millwright::cloud
