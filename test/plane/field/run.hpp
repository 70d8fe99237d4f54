// Plays a scenario with one side on a control plane of its own, and says what came of each phase.
#pragma once

#include "plane/field/figures.hpp"
#include "plane/field/scenarios.hpp"
#include "plane/field/side.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace millwright::field {

// How long nothing must move until a phase is over: longer than Karpenter's consolidation takes to
// come to a decision (10 s between polls, 15 s until it is validated).
inline constexpr auto kQuiet = std::chrono::seconds(60);
// How long after its last step a phase may take to come to rest.
inline constexpr auto kRestLimit = std::chrono::minutes(10);

// Called with each measured phase, also with one that could not be played: its figures are null,
// with the reason.
using Tell = std::function<void(const Phase& phase, Figures figures)>;
struct PlayOptions {
  bool forecast = false;  // what-if is asked before each measured phase
  // A new file: `millwright record` of everything from the NodePools on. It takes a share of the
  // machine. Empty: none.
  std::string recording;
};
void play(const Scenario& scenario, std::unique_ptr<Side> side, const Tell& tell,
          const PlayOptions& options = {});

}  // namespace millwright::field
