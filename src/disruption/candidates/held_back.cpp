#include "disruption/candidates/held_back.hpp"

#include <array>
#include <cstdio>
#include <string>

namespace millwright::disruption {
namespace {

// 7/10 is not quite what "70%" is read as.
constexpr double kShareRounding = 1e-9;

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

// The resource of which the largest part is used.
struct Fullest {
  std::string_view resource;
  double share = 0;
};

// DaemonSets leave with the node: what they use is neither used by others nor free for them. Counts
// of pods and disks do not say that a node is worth its price.
Fullest fullest_resource(const scheduling::NodeRecord& record) {
  Fullest fullest;
  const auto allocatable = record.allocatable();
  for (const auto& [name, requested] : record.pod_requests) {
    if (name == model::kPods || name == model::kEphemeralStorage) {
      continue;
    }
    const double daemons = model::get(record.daemon_requests, name).as_double();
    const double room = model::get(allocatable, name).as_double() - daemons;
    const double share = room > 0 ? (requested.as_double() - daemons) / room : 0;
    if (share > fullest.share) {
      fullest = {.resource = name, .share = share};
    }
  }
  return fullest;
}

std::string percent(double share) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f%%", share * 100);
  return text.data();
}

}  // namespace

std::string asked_for(const Candidate& candidate, std::string_view key) {
  const auto& pool = candidate.pool->meta;
  return "the annotation " + std::string(key) + " of NodePool " + pool.name + " asks for (" +
         pool.annotation(key) + ")";
}

std::optional<Obstacle> node_too_young(const Candidate& candidate, base::TimePoint now) {
  const auto until = young_until(candidate.record->claim->meta.creation_timestamp,
                                 candidate.preferences->min_node_age, now);
  if (!until) {
    return std::nullopt;
  }
  return Obstacle{"it is younger than " + asked_for(candidate, model::kMinNodeAgeAnnotation) +
                      may_go_at(*until),
                  until};
}

std::optional<Obstacle> pods_too_young(const Candidate& candidate, base::TimePoint now) {
  const base::Duration age = candidate.preferences->min_pod_age;
  if (age == base::Duration::zero()) {
    return std::nullopt;  // as for most: their pods need not be looked at
  }
  std::optional<base::TimePoint> last;
  const model::Pod* youngest = nullptr;
  for (const auto& pod : candidate.pods()) {
    const auto until = young_until(bound_since(*pod), age, now);
    if (until && (!last || *until > *last)) {
      last = until;
      youngest = pod.get();
    }
  }
  if (youngest == nullptr) {
    return std::nullopt;
  }
  return Obstacle{"pod " + model::key_of(youngest->meta).to_string() + " came to it later than " +
                      asked_for(candidate, model::kMinPodAgeAnnotation) + may_go_at(*last),
                  last};
}

std::optional<Obstacle> too_full(const Candidate& candidate) {
  const auto most = candidate.preferences->max_utilization;
  if (!most) {
    return std::nullopt;
  }
  const auto fullest = fullest_resource(*candidate.record);
  if (fullest.share <= *most + kShareRounding) {
    return std::nullopt;
  }
  return Obstacle{percent(fullest.share) + " of its " + std::string(fullest.resource) +
                      " is requested, more than " +
                      asked_for(candidate, model::kMaxUtilizationAnnotation),
                  std::nullopt};
}

}  // namespace millwright::disruption
