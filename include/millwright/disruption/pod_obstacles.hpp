// What keeps pods from being evicted: do-not-disrupt annotations and PodDisruptionBudgets.
#pragma once

#include "millwright/scheduling/snapshot.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::disruption {

// What keeps a node or pod where it is, and when that may end by itself.
struct Obstacle {
  std::string message;
  std::optional<base::TimePoint> until;
};

// Until when the annotation karpenter.sh/do-not-disrupt protects the pod. Its value is "true" or a
// duration since the pod's start. nullopt: not protected now; TimePoint::max(): for ever.
std::optional<base::TimePoint> do_not_disrupt_until(const model::Pod& pod, base::TimePoint now);

// The first of the pods that must not be disrupted now.
std::optional<Obstacle> pod_protection(const std::vector<scheduling::PodPtr>& pods,
                                       base::TimePoint now);

// What there is to tell of a pod whose annotation is neither "true" nor "false".
enum class Protection : std::uint8_t {
  Unreadable,  // it protects nothing
  Lasts,
  Over,
};
struct ProtectedPod {
  scheduling::PodPtr pod;
  Protection protection = Protection::Unreadable;
  std::optional<base::TimePoint> until;  // none if unreadable, or while the pod has not started
};
std::optional<ProtectedPod> timed_protection(const scheduling::PodPtr& pod, base::TimePoint now);

// Pods that tolerate karpenter.sh/disrupted stay until their node goes.
bool tolerates_disruption(const model::Pod& pod);

// Of one snapshot's budgets at one instant.
class PodObstacles {
 public:
  using BudgetPtr = std::shared_ptr<const model::PodDisruptionBudget>;
  using Budgets = std::span<const BudgetPtr>;
  PodObstacles(Budgets budgets, base::TimePoint now);

  // Why the pods cannot be evicted now (Karpenter's ValidatePodsDisruptable): the first pod that
  // must not be disrupted, else the first whose budget is used up.
  std::optional<Obstacle> find(const std::vector<scheduling::PodPtr>& pods) const;
  // Whether draining its node would move the pod (Karpenter's IsCurrentlyReschedulable): it is not
  // marked do-not-disrupt, and no budget forbids every eviction.
  bool is_currently_reschedulable(const model::Pod& pod) const;
  // How many evictions the budgets of such pods allow now; nullopt: no budget selects the pod.
  std::optional<int> evictions_left(const model::Pod& pod) const;
  // Whether any budget is of one of these namespaces.
  bool any_in(std::span<const std::string_view> namespaces) const;
  // Those that select the pod.
  std::vector<BudgetPtr> budgets_of(const model::Pod& pod) const;

 private:
  std::optional<Obstacle> budget_obstacle(const model::Pod& pod) const;

  std::map<std::string_view, std::vector<BudgetPtr>> by_namespace_;
  base::TimePoint now_;
};

}  // namespace millwright::disruption
