// A plan as text, every field of it: equal texts are equal plans.
#pragma once

#include "millwright/scheduling/solve.hpp"

#include <string>

namespace millwright::checker {

std::string text_of(const scheduling::Plan& plan);

}  // namespace millwright::checker
