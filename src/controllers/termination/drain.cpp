#include "millwright/controllers/termination/drain.hpp"

#include "millwright/disruption/pod_obstacles.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

namespace millwright::controllers {
namespace {

constexpr auto kStuckTerminating = std::chrono::minutes(1);
constexpr std::int64_t kDefaultGrace = 30;

bool is_drainable(const model::Pod& pod, base::TimePoint now) {
  const bool stuck =
      pod.meta.deletion_timestamp && now > *pod.meta.deletion_timestamp + kStuckTerminating;
  return !disruption::tolerates_disruption(pod) && !stuck && !model::is_mirror(pod);
}

bool is_critical(const model::Pod& pod) {
  return pod.spec.priority_class_name == "system-cluster-critical" ||
         pod.spec.priority_class_name == "system-node-critical";
}

std::size_t tier_of(const model::Pod& pod) {
  return (is_critical(pod) ? 2U : 0U) + (model::is_owned_by_daemonset(pod) ? 1U : 0U);
}

bool is_overdue(const model::Pod& pod, base::TimePoint deadline, base::TimePoint now) {
  if (pod.meta.deletion_timestamp) {
    return *pod.meta.deletion_timestamp > deadline;
  }
  // Kubernetes takes any 64 bits; a century before the deadline is long over, too.
  constexpr std::int64_t kCentury = 100LL * 365 * 24 * 60 * 60;
  const std::int64_t grace = pod.spec.termination_grace_period_seconds.value_or(kDefaultGrace);
  return now > deadline - std::chrono::seconds(std::clamp<std::int64_t>(grace, 0, kCentury));
}

}  // namespace

std::optional<base::TimePoint> termination_deadline(const scheduling::NodeRecord& node) {
  const model::ObjectMeta& meta = node.claim ? node.claim->meta : node.node->meta;
  return base::parse_rfc3339(meta.annotation(model::kTerminationTimestampAnnotation));
}

DrainStep next_drain_step(const scheduling::NodeRecord& node,
                          std::optional<base::TimePoint> deadline, base::TimePoint now) {
  DrainStep step;
  std::array<std::vector<scheduling::PodPtr>, 4> tiers;
  for (const auto& pod : node.pods) {
    if (!is_drainable(*pod, now)) {
      continue;
    }
    ++step.waiting;
    if (deadline && is_overdue(*pod, *deadline, now)) {
      const auto left = std::chrono::duration_cast<std::chrono::seconds>(*deadline - now).count();
      step.force_delete.emplace_back(pod, std::max<std::int64_t>(left, 1));
    } else {
      tiers[tier_of(*pod)].push_back(pod);
    }
  }
  const auto first =
      std::find_if(tiers.begin(), tiers.end(), [](const auto& tier) { return !tier.empty(); });
  if (first == tiers.end()) {
    return step;
  }
  for (const auto& pod : *first) {
    if (!pod->meta.is_deleting() && !disruption::do_not_disrupt_until(*pod, now)) {
      step.evict.push_back(pod);
    }
  }
  return step;
}

}  // namespace millwright::controllers
