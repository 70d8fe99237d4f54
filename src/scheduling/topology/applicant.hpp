// A pod that looks for a place, as those who decide about it see it.
#pragma once

#include "scheduling/compile/pods/pod_classes.hpp"
#include "scheduling/topology/narrowings.hpp"

#include <cstddef>

namespace millwright::scheduling {

// The domains chosen for a pod, and those that are closed to it; either may be null.
struct Narrowed {
  const Narrowing* chosen = nullptr;
  const Narrowing* closed = nullptr;
};

// Equal for all pods of one class on one rung, except for the domains chosen for them.
struct Applicant {
  const PodClass& pod_class;
  const Constraint& constraint;
  const Rung& rung;
  Narrowed narrowed{};

  // Position of the rung in the constraint's ladder.
  std::size_t rung_index() const {
    return static_cast<std::size_t>(&rung - constraint.ladder.data());
  }
};

}  // namespace millwright::scheduling
