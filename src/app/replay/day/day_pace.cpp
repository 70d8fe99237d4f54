#include "app/replay/day/day_pace.hpp"

#include "app/replay/day/day_evictions.hpp"
#include "millwright/model/codec.hpp"
#include "millwright/model/labels.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

namespace millwright::app {
namespace {

using Durations = std::vector<base::Duration>;

// Over which the fastest making of pods is looked for.
constexpr std::array kPaceWindows{std::chrono::seconds(1), std::chrono::seconds(2),
                                  std::chrono::seconds(5), std::chrono::seconds(10),
                                  std::chrono::seconds(30)};

base::Duration share_of(const Durations& sorted, std::size_t percent) {
  return sorted[(sorted.size() - 1) * percent / 100];
}

std::optional<base::Duration> median_of(Durations durations) {
  if (durations.empty()) {
    return std::nullopt;
  }
  std::sort(durations.begin(), durations.end());
  return share_of(durations, 50);
}

std::optional<cloud::Latency> latency_of(Durations durations) {
  if (durations.empty()) {
    return std::nullopt;
  }
  std::sort(durations.begin(), durations.end());
  return cloud::Latency{.least = share_of(durations, 10),
                        .typical = share_of(durations, 50),
                        .most = share_of(durations, 90)};
}

base::Duration no_less_than_none(base::Duration duration) {
  return std::max(duration, base::Duration::zero());
}

bool is_of_replica_set(const model::Pod& pod) {
  const auto* owner = pod.meta.controller();
  return owner != nullptr && owner->kind == model::kReplicaSetResource.kind;
}

// As the pod asks for it: once its containers have ended, metadata says zero.
base::Duration grace_period_of(const model::Pod& pod) {
  constexpr std::int64_t kDefault = 30;
  constexpr std::int64_t kLongest = 24 * 3600;
  return std::chrono::seconds(std::clamp<std::int64_t>(
      pod.spec.termination_grace_period_seconds.value_or(kDefault), 0, kLongest));
}

// The rate of a client that made `times` (in order) under a limit with a burst.
double fastest_rate(const std::vector<base::TimePoint>& times) {
  double fastest = kReplicaPodsPerSecond;
  for (const auto window : kPaceWindows) {
    std::size_t most = 0;
    std::size_t first = 0;
    for (std::size_t last = 0; last < times.size(); ++last) {
      while (times[last] - times[first] > window) {
        ++first;
      }
      most = std::max(most, last - first + 1);
    }
    fastest = std::max(
        fastest, (static_cast<double>(most) - kReplicaBurst) / static_cast<double>(window.count()));
  }
  return fastest;
}

class DayPaceReader {
 public:
  DayPaceReader(const RecordedDay& day, std::span<const ClusterObject> objects)
      : recorded_(*day.recorded), start_(day.start), objects_(objects), evictions_(*day.recorded) {}

  DayPace read() {
    DayPace pace;
    read_machines(pace);
    read_pods(pace);
    return pace;
  }

 private:
  void read_machines(DayPace& pace) {
    std::map<std::string, const sandbox::NodeHistory*> nodes;  // by provider id
    Durations readies;
    for (const auto& [uid, node] : recorded_.nodes()) {
      nodes.emplace(node.last->provider_id, &node);
      if (node.created > start_ && node.ready && !is_of_nobody(node)) {
        readies.push_back(*node.ready - node.created);
      }
    }
    Durations launches;
    Durations boots;
    for (const auto& [uid, claim] : recorded_.claims()) {
      const auto node = nodes.find(claim.last->provider_id);
      if (claim.created <= start_ || !claim.launched || node == nodes.end()) {
        continue;
      }
      // A Node may be there before its launch is written down.
      const auto launched = std::min(*claim.launched, node->second->created);
      launches.push_back(no_less_than_none(launched - claim.created));
      boots.push_back(no_less_than_none(node->second->created - launched -
                                        registration_delay_of(claim.last->node_class_ref)));
    }
    pace.launch = latency_of(std::move(launches));
    pace.boot = latency_of(std::move(boots));
    pace.node_ready = median_of(std::move(readies));
  }

  static bool is_of_nobody(const sandbox::NodeHistory& node) {
    return node.last->meta.label(model::kNodePoolLabel).empty();
  }

  base::Duration registration_delay_of(const model::NodeClassReference& reference) const {
    for (const auto& each : objects_) {
      if (*each.resource == model::kKwokNodeClassResource && reference_to(each) == reference) {
        const auto delay =
            base::parse_go_duration(model::text_at(each.object, "spec.nodeRegistrationDelay"));
        return no_less_than_none(delay.value_or(base::Duration::zero()));
      }
    }
    return base::Duration::zero();
  }

  void read_pods(DayPace& pace) {
    for (const auto& [uid, record] : recorded_.pods()) {
      if (!model::is_owned_by_daemonset(*record.last) && !model::is_mirror(*record.last)) {
        read_pod(record);
      }
    }
    pace.pod_start = median_of(std::move(starts_));
    pace.pod_stop = median_of(std::move(stops_));
    pace.pod_removal = median_of(std::move(removals_));
    if (!of_sets_.empty()) {
      std::sort(of_sets_.begin(), of_sets_.end());
      pace.replica_pods_per_second = fastest_rate(of_sets_);
    }
  }

  void read_pod(const sandbox::PodRecord& record) {
    const auto& pod = *record.last;
    if (record.bound && *record.bound > start_ && record.running) {
      starts_.push_back(no_less_than_none(*record.running - *record.bound));
    }
    const bool left = record.deleting && *record.deleting > start_;
    if (left && record.running && record.gone && *record.gone > *record.deleting) {
      const auto took = *record.gone - *record.deleting;
      const base::Duration grace = grace_period_of(pod);
      stops_.push_back(std::min(took, grace));
      removals_.push_back(no_less_than_none(took - grace));
    }
    if (is_of_replica_set(pod)) {
      if (record.created > start_) {
        of_sets_.push_back(record.created);
      }
      if (left && !evictions_.was_evicted(record)) {
        of_sets_.push_back(*record.deleting);
      }
    }
  }

  const sandbox::Recorder& recorded_;
  base::TimePoint start_;
  std::span<const ClusterObject> objects_;
  DayEvictions evictions_;
  Durations starts_;
  Durations stops_;
  Durations removals_;
  std::vector<base::TimePoint> of_sets_;  // when pods of ReplicaSets were made or deleted
};

}  // namespace

DayPace pace_of(const RecordedDay& day, std::span<const ClusterObject> objects) {
  return DayPaceReader(day, objects).read();
}

}  // namespace millwright::app
