// When a NodeClaim's machine was launched, and for how long its cloud may hide it after that.
#pragma once

#include "millwright/base/time.hpp"
#include "millwright/model/conditions.hpp"
#include "millwright/model/karpenter.hpp"

#include <chrono>
#include <optional>

namespace millwright::controllers {

// Clouds show a new machine late, also to a question for this very one: AWS advises to ask for up
// to five minutes. Its Node may have joined by then.
inline constexpr auto kUnseenGrace = std::chrono::minutes(5);

// nullopt: no launch is on record.
inline std::optional<base::TimePoint> recorded_launch(const model::NodeClaim& claim) {
  const auto* launched = model::find_condition(claim.conditions, model::kLaunched);
  const bool is_launched = launched != nullptr &&
                           launched->status == model::ConditionStatus::True &&
                           !claim.provider_id.empty();
  return is_launched ? launched->last_transition_time : std::nullopt;
}

}  // namespace millwright::controllers
