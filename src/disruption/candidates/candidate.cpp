#include "disruption/candidates/candidate.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace millwright::disruption {
namespace {

constexpr std::string_view kDeletionCost = "controller.kubernetes.io/pod-deletion-cost";

}  // namespace

const model::Condition* Candidate::drifted() const {
  const auto* condition = model::find_condition(record->claim->conditions, model::kDrifted);
  return condition != nullptr && condition->status == model::ConditionStatus::True ? condition
                                                                                   : nullptr;
}

double eviction_cost(const model::Pod& pod) {
  double cost = 1;
  const auto& text = pod.meta.annotation(kDeletionCost);
  double deletion_cost = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), deletion_cost);
  if (!text.empty() && error == std::errc() && end == text.data() + text.size() &&
      std::isfinite(deletion_cost)) {
    cost += deletion_cost / std::exp2(27);
  }
  cost += static_cast<double>(pod.spec.priority) / std::exp2(25);
  return std::clamp(cost, -10.0, 10.0);
}

}  // namespace millwright::disruption
