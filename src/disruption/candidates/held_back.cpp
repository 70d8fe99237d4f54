#include "disruption/candidates/held_back.hpp"

#include <string>

namespace millwright::disruption {
namespace {

// "than the annotation millwright.io/... of NodePool default asks for (10m)"
std::string than_asked_for(const Candidate& candidate, std::string_view key) {
  const auto& pool = candidate.pool->meta;
  return "than the annotation " + std::string(key) + " of NodePool " + pool.name + " asks for (" +
         pool.annotation(key) + ")";
}

std::string may_go_at(base::TimePoint time) {
  return "; it may be consolidated at " + base::format_rfc3339(time);
}

// Since when the pod is on its node.
std::optional<base::TimePoint> bound_since(const model::Pod& pod) {
  const auto* scheduled = model::find_condition(pod.status.conditions, "PodScheduled");
  if (scheduled != nullptr && scheduled->status == model::ConditionStatus::True &&
      scheduled->last_transition_time) {
    return scheduled->last_transition_time;
  }
  return pod.status.start_time ? pod.status.start_time : pod.meta.creation_timestamp;
}

// When something is old enough; nullopt when it is already.
std::optional<base::TimePoint> young_until(std::optional<base::TimePoint> since, base::Duration age,
                                           base::TimePoint now) {
  if (!since || age == base::Duration::zero()) {
    return std::nullopt;
  }
  const auto until = base::sum_of(*since, age).value_or(base::TimePoint::max());
  return until > now ? std::optional(until) : std::nullopt;
}

}  // namespace

std::optional<Obstacle> node_too_young(const Candidate& candidate, base::TimePoint now) {
  const auto until = young_until(candidate.record->claim->meta.creation_timestamp,
                                 candidate.preferences->min_node_age, now);
  if (!until) {
    return std::nullopt;
  }
  return Obstacle{
      "it is younger " + than_asked_for(candidate, model::kMinNodeAgeAnnotation) + may_go_at(*until),
      until};
}

std::optional<Obstacle> pods_too_young(const Candidate& candidate, base::TimePoint now) {
  const base::Duration age = candidate.preferences->min_pod_age;
  if (age == base::Duration::zero()) {
    return std::nullopt;  // as for most: their pods need not be looked at
  }
  std::optional<base::TimePoint> last;
  const model::Pod* youngest = nullptr;
  for (const auto& pod : candidate.pods) {
    const auto until = young_until(bound_since(*pod), age, now);
    if (until && (!last || *until > *last)) {
      last = until;
      youngest = pod.get();
    }
  }
  if (youngest == nullptr) {
    return std::nullopt;
  }
  return Obstacle{"pod " + model::key_of(youngest->meta).to_string() + " came to it later " +
                      than_asked_for(candidate, model::kMinPodAgeAnnotation) + may_go_at(*last),
                  last};
}

}  // namespace millwright::disruption
