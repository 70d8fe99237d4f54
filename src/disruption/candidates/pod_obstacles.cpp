#include "millwright/disruption/pod_obstacles.hpp"

#include "millwright/base/mutant.hpp"
#include "millwright/scheduling/solve.hpp"

#include <algorithm>
#include <iterator>

namespace millwright::disruption {
namespace {

bool is_active(const model::Pod& pod) {
  return !model::is_terminal(pod) && !pod.meta.is_deleting();
}

std::string pod_name(const model::Pod& pod) {
  return model::key_of(pod.meta).to_string();
}

bool never_allows_any(const model::PodDisruptionBudget& budget) {
  return budget.max_unavailable == "0" || budget.max_unavailable == "0%" ||
         budget.min_available == "100%";
}

}  // namespace

std::optional<base::TimePoint> do_not_disrupt_until(const model::Pod& pod, base::TimePoint now) {
  const auto& text = pod.meta.annotation(model::kDoNotDisruptAnnotation);
  if (text.empty() || base::planted(base::Mutant::ProtectionIgnored)) {
    return std::nullopt;
  }
  if (text == "true") {
    return base::TimePoint::max();
  }
  const auto duration = base::parse_go_duration(text);
  if (!duration || *duration <= base::Duration::zero()) {
    return std::nullopt;
  }
  if (!pod.status.start_time) {
    return base::TimePoint::max();  // it has not begun to count
  }
  const auto until =
      base::sum_of(*pod.status.start_time, *duration).value_or(base::TimePoint::max());
  return now < until ? std::optional(until) : std::nullopt;
}

std::optional<Obstacle> pod_protection(const std::vector<scheduling::PodPtr>& pods,
                                       base::TimePoint now) {
  for (const auto& pod : pods) {
    const auto until = is_active(*pod) ? do_not_disrupt_until(*pod, now) : std::nullopt;
    if (until) {
      const bool forever = *until == base::TimePoint::max();
      return Obstacle{"pod " + pod_name(*pod) + " has the annotation " +
                          std::string(model::kDoNotDisruptAnnotation) +
                          (forever ? std::string() : ", until " + base::format_rfc3339(*until)),
                      until};
    }
  }
  return std::nullopt;
}

std::optional<ProtectedPod> timed_protection(const scheduling::PodPtr& pod, base::TimePoint now) {
  const auto& text = pod->meta.annotation(model::kDoNotDisruptAnnotation);
  if (text.empty() || text == "true" || text == "false" || !is_active(*pod)) {
    return std::nullopt;
  }
  const auto duration = base::parse_go_duration(text);
  if (!duration || *duration <= base::Duration::zero()) {
    return ProtectedPod{.pod = pod, .protection = Protection::Unreadable, .until = {}};
  }
  const auto start = pod->status.start_time;
  const auto until = start ? base::sum_of(*start, *duration) : std::optional<base::TimePoint>();
  const bool over = until && *until <= now;
  return ProtectedPod{
      .pod = pod, .protection = over ? Protection::Over : Protection::Lasts, .until = until};
}

bool tolerates_disruption(const model::Pod& pod) {
  static const model::Taint taint{.key = std::string(model::kDisruptedTaint),
                                  .effect = "NoSchedule"};
  return std::any_of(pod.spec.tolerations.begin(), pod.spec.tolerations.end(),
                     [&](const auto& toleration) { return toleration.tolerates(taint); });
}

PodObstacles::PodObstacles(Budgets budgets, base::TimePoint now) : now_(now) {
  for (const auto& budget : budgets) {
    by_namespace_[budget->meta.namespace_].push_back(budget);
  }
}

std::optional<Obstacle> PodObstacles::find(const std::vector<scheduling::PodPtr>& pods) const {
  auto found = pod_protection(pods, now_);
  for (auto pod = pods.begin(); !found && pod != pods.end(); ++pod) {
    if (is_active(**pod) && !model::is_mirror(**pod) && !tolerates_disruption(**pod)) {
      found = budget_obstacle(**pod);
    }
  }
  return found;
}

bool PodObstacles::is_currently_reschedulable(const model::Pod& pod) const {
  if (!scheduling::is_reschedulable(pod) || (is_active(pod) && do_not_disrupt_until(pod, now_))) {
    return false;
  }
  const auto budgets = budgets_of(pod);
  return std::none_of(budgets.begin(), budgets.end(),
                      [](const auto& budget) { return never_allows_any(*budget); });
}

std::optional<int> PodObstacles::evictions_left(const model::Pod& pod) const {
  std::optional<int> least;
  for (const auto& budget : budgets_of(pod)) {
    const int allowed = static_cast<int>(budget->disruptions_allowed);
    least = std::min(least.value_or(allowed), allowed);
  }
  return least;
}

bool PodObstacles::any_in(std::span<const std::string_view> namespaces) const {
  return std::any_of(namespaces.begin(), namespaces.end(),
                     [&](const auto& each) { return by_namespace_.contains(each); });
}

std::vector<PodObstacles::BudgetPtr> PodObstacles::budgets_of(const model::Pod& pod) const {
  std::vector<BudgetPtr> matching;
  const auto in_namespace = by_namespace_.find(pod.meta.namespace_);
  if (in_namespace != by_namespace_.end()) {
    std::copy_if(in_namespace->second.begin(), in_namespace->second.end(),
                 std::back_inserter(matching), [&](const auto& budget) {
                   return budget->selector && budget->selector->matches(pod.meta.labels);
                 });
  }
  return matching;
}

std::optional<Obstacle> PodObstacles::budget_obstacle(const model::Pod& pod) const {
  const auto budgets = budgets_of(pod);
  if (budgets.size() > 1) {
    return Obstacle{"pod " + pod_name(pod) + " has more than one PodDisruptionBudget (" +
                        budgets[0]->meta.name + ", " + budgets[1]->meta.name +
                        "), which the eviction API refuses",
                    std::nullopt};
  }
  if (budgets.empty() || budgets[0]->disruptions_allowed > 0) {
    return std::nullopt;
  }
  const auto* ready = model::find_condition(pod.status.conditions, "Ready");
  if (budgets[0]->unhealthy_pod_eviction_policy == "AlwaysAllow" && ready != nullptr &&
      ready->status == model::ConditionStatus::False) {
    return std::nullopt;
  }
  return Obstacle{"PodDisruptionBudget " + model::key_of(budgets[0]->meta).to_string() +
                      " allows no disruption of pod " + pod.meta.name + " now",
                  std::nullopt};
}

}  // namespace millwright::disruption
