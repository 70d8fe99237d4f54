// What pods have to say about their node's removal: do-not-disrupt annotations and
// PodDisruptionBudgets (Karpenter's ValidatePodsDisruptable).
#include "disruption/survey.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace millwright::disruption {
namespace {

constexpr std::string_view kDeletionCost = "controller.kubernetes.io/pod-deletion-cost";

bool is_active(const model::Pod& pod) {
  return !model::is_terminal(pod) && !pod.meta.is_deleting();
}

bool tolerates_removal(const model::Pod& pod) {
  const model::Taint taint{.key = std::string(model::kDisruptedTaint), .effect = "NoSchedule"};
  return std::any_of(pod.spec.tolerations.begin(), pod.spec.tolerations.end(),
                     [&](const auto& toleration) { return toleration.tolerates(taint); });
}

std::string pod_name(const model::Pod& pod) {
  return model::key_of(pod.meta).to_string();
}

}  // namespace

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

std::optional<base::TimePoint> do_not_disrupt_until(const model::Pod& pod, base::TimePoint now) {
  const auto& text = pod.meta.annotation(model::kDoNotDisruptAnnotation);
  if (text.empty()) {
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
  const auto until = *pod.status.start_time + *duration;
  return now < until ? std::optional(until) : std::nullopt;
}

std::optional<Obstacle> Survey::pods_obstacle(const scheduling::NodeRecord& record) const {
  std::optional<Obstacle> found;
  for (const auto& pod : record.pods) {
    if (!is_active(*pod)) {
      continue;
    }
    if (const auto until = do_not_disrupt_until(*pod, input_.now)) {
      const bool forever = *until == base::TimePoint::max();
      return Obstacle{"pod " + pod_name(*pod) + " has the annotation " +
                          std::string(model::kDoNotDisruptAnnotation) +
                          (forever ? std::string() : ", until " + base::format_rfc3339(*until)),
                      until};
    }
    if (!found && !model::is_mirror(*pod) && !tolerates_removal(*pod)) {
      found = pod_budget_obstacle(*pod);
    }
  }
  return found;
}

std::optional<Obstacle> Survey::pod_budget_obstacle(const model::Pod& pod) const {
  const auto in_namespace = budgets_by_namespace_.find(pod.meta.namespace_);
  if (in_namespace == budgets_by_namespace_.end()) {
    return std::nullopt;
  }
  const model::PodDisruptionBudget* only = nullptr;
  for (const auto& budget : in_namespace->second) {
    if (!budget->selector || !budget->selector->matches(pod.meta.labels)) {
      continue;
    }
    if (only != nullptr) {
      return Obstacle{"pod " + pod_name(pod) + " has more than one PodDisruptionBudget (" +
                          only->meta.name + ", " + budget->meta.name +
                          "), which the eviction API refuses",
                      std::nullopt};
    }
    only = budget.get();
  }
  if (only == nullptr || only->disruptions_allowed > 0) {
    return std::nullopt;
  }
  const auto* ready = model::find_condition(pod.status.conditions, "Ready");
  if (only->unhealthy_pod_eviction_policy == "AlwaysAllow" && ready != nullptr &&
      ready->status == model::ConditionStatus::False) {
    return std::nullopt;
  }
  return Obstacle{"PodDisruptionBudget " + model::key_of(only->meta).to_string() +
                      " allows no disruption of pod " + pod.meta.name + " now",
                  std::nullopt};
}

}  // namespace millwright::disruption
