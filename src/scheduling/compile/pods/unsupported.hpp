// Pods that the planner refuses before it looks at any node: what they ask for cannot be decided
// here, and a guess could place them wrongly.
#pragma once

#include "millwright/model/pod.hpp"

#include <string>

namespace millwright::scheduling {

struct Unsupported {
  std::string refusal;  // empty: the pod can be planned
  std::string remedy;
};

Unsupported unsupported(const model::PodSpec& spec);

}  // namespace millwright::scheduling
