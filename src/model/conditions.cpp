#include "millwright/model/conditions.hpp"

#include "millwright/model/karpenter.hpp"

#include <algorithm>
#include <utility>

namespace millwright::model {
namespace {

constexpr std::string_view kAwaitingReason = "AwaitingReconciliation";
constexpr std::string_view kAwaitingMessage = "object is awaiting reconciliation";

bool is_in(std::span<const std::string_view> types, std::string_view type) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

}  // namespace

bool is_launch_failing(const std::vector<Condition>& conditions) {
  const Condition* const launched = find_condition(conditions, kLaunched);
  return launched != nullptr && launched->status == ConditionStatus::Unknown &&
         launched->reason == kLaunchFailed;
}

std::string_view status_text(ConditionStatus status) {
  switch (status) {
    case ConditionStatus::True:
      return "True";
    case ConditionStatus::False:
      return "False";
    case ConditionStatus::Unknown:
      break;
  }
  return "Unknown";
}

ConditionSet::ConditionSet(std::vector<Condition>& conditions, const ObjectMeta& meta,
                           std::span<const std::string_view> dependents, base::TimePoint now)
    : conditions_(conditions),
      meta_(meta),
      dependents_(dependents),
      // As precise as the API stores it, so that what is set here equals what is read back.
      now_(std::chrono::floor<std::chrono::seconds>(now)) {
  if (meta_.is_deleting()) {
    for (Condition& condition : conditions_) {
      changed_ = changed_ || condition.observed_generation != meta_.generation;
      condition.observed_generation = meta_.generation;
    }
  }
  for (const std::string_view type : dependents_) {
    if (find_condition(conditions_, type) == nullptr) {
      set(type, ConditionStatus::Unknown, kAwaitingReason, kAwaitingMessage);
    }
  }
  if (find_condition(conditions_, kReady) == nullptr) {
    set(kReady, ConditionStatus::Unknown, kAwaitingReason, kAwaitingMessage);
  }
}

void ConditionSet::set_true(std::string_view type, std::string_view reason,
                            std::string_view message) {
  set(type, ConditionStatus::True, reason.empty() ? type : reason, message);
}

void ConditionSet::set_false(std::string_view type, std::string_view reason,
                             std::string_view message) {
  set(type, ConditionStatus::False, reason, message);
}

void ConditionSet::set_unknown(std::string_view type, std::string_view reason,
                               std::string_view message) {
  set(type, ConditionStatus::Unknown, reason, message);
}

void ConditionSet::clear(std::string_view type) {
  if (type == kReady || is_in(dependents_, type)) {
    return;
  }
  const auto removed = std::erase_if(
      conditions_, [type](const Condition& condition) { return condition.type == type; });
  if (removed == 0) {
    return;
  }
  std::stable_sort(conditions_.begin(), conditions_.end(),
                   [](const Condition& a, const Condition& b) { return a.type < b.type; });
  changed_ = true;
}

void ConditionSet::set(std::string_view type, ConditionStatus status, std::string_view reason,
                       std::string_view message) {
  Condition next{.type = std::string(type),
                 .status = status,
                 .reason = std::string(reason),
                 .message = std::string(message),
                 .last_transition_time = now_,
                 .observed_generation = meta_.generation};
  const auto existing =
      std::find_if(conditions_.begin(), conditions_.end(),
                   [type](const Condition& condition) { return condition.type == type; });
  if (existing == conditions_.end()) {
    // A dependent's first "transition" is the object's creation: liveness timers count from it.
    if (is_in(dependents_, type) && meta_.creation_timestamp) {
      next.last_transition_time = meta_.creation_timestamp;
    }
    conditions_.push_back(std::move(next));
  } else {
    if (existing->status == status) {
      next.last_transition_time = existing->last_transition_time;
    }
    if (*existing == next) {
      return;
    }
    *existing = std::move(next);
  }
  changed_ = true;
  std::stable_sort(conditions_.begin(), conditions_.end(),
                   [](const Condition& a, const Condition& b) {
                     if (a.type == kReady || b.type == kReady) {
                       return a.type != kReady;
                     }
                     return a.last_transition_time < b.last_transition_time;
                   });
  if (type != kReady) {
    recompute_root();
  }
}

void ConditionSet::recompute_root() {
  std::vector<const Condition*> unhealthy;
  bool any_false = false;
  for (const Condition& condition : conditions_) {
    const bool current = condition.observed_generation == meta_.generation;
    if (is_in(dependents_, condition.type) &&
        (condition.status != ConditionStatus::True || !current)) {
      unhealthy.push_back(&condition);
      any_false = any_false || (condition.status == ConditionStatus::False && current);
    }
  }
  if (unhealthy.empty()) {
    set_true(kReady);
    return;
  }
  std::stable_sort(unhealthy.begin(), unhealthy.end(), [](const Condition* a, const Condition* b) {
    return a->last_transition_time > b->last_transition_time;
  });
  std::string message;
  for (const Condition* const condition : unhealthy) {
    message.append(message.empty() ? "" : ", ").append(condition->type).append("=");
    message.append(status_text(condition->status));
  }
  if (any_false) {
    set_false(kReady, "UnhealthyDependents", message);
  } else {
    set_unknown(kReady, "ReconcilingDependents", message);
  }
}

}  // namespace millwright::model
