// What a scenario file expects of the plan.
#pragma once

#include "checker/files/scenario.hpp"

#include <string>
#include <vector>

namespace millwright::checker {

// What the plan lacks of the expectations, one sentence each.
std::vector<std::string> unmet(const Scenario& scenario, const scheduling::Plan& plan);

}  // namespace millwright::checker
