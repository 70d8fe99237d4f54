// Pods that somebody may count on.
#pragma once

#include "millwright/scheduling/solve.hpp"

#include <string_view>

namespace millwright::disruption {

inline bool is_serving(const model::Pod& pod) {
  const auto* ready = model::find_condition(pod.status.conditions, "Ready");
  return pod.status.phase == "Running" && !pod.meta.is_deleting() &&
         (ready == nullptr || ready->status == model::ConditionStatus::True);
}

// Uid of the controller whose pods stand in for each other; empty: nobody does.
inline std::string_view stand_ins_of(const model::Pod& pod) {
  const auto* controller = pod.meta.controller();
  return controller == nullptr || controller->kind == "Job" ? std::string_view()
                                                            : std::string_view(controller->uid);
}

}  // namespace millwright::disruption
