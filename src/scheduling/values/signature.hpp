// An exact text for requirements, to find equal ones by hashing or sorting. Not for people.
#pragma once

#include "millwright/scheduling/requirements.hpp"

#include <string>

namespace millwright::scheduling {

void append_signature(std::string& text, const Requirement& requirement);
void append_signature(std::string& text, const Requirements& requirements);

}  // namespace millwright::scheduling
