// Plays a scenario with one side on a control plane of its own, and says what came of each phase.
#pragma once

#include "plane/field/figures.hpp"
#include "plane/field/scenario.hpp"
#include "plane/field/side.hpp"

#include <memory>
#include <string>
#include <vector>

namespace millwright::field {

struct Row {
  std::string phase;
  Figures figures;
};

// How long nothing must move until a phase is over: longer than Karpenter's consolidation takes to
// come to a decision (10 s between polls, 15 s until it is validated).
inline constexpr auto kQuiet = std::chrono::seconds(60);

base::Result<std::vector<Row>> play(const Scenario& scenario, std::unique_ptr<Side> side);

}  // namespace millwright::field
