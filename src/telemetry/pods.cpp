// Where each pod is, its state, and how long it has waited.

#include "millwright/scheduling/solve.hpp"
#include "telemetry/sections.hpp"
#include "telemetry/zones.hpp"

#include <algorithm>
#include <functional>
#include <map>

namespace millwright::telemetry {
namespace {

// The path that the API server used to call selfLink, of the first owner.
std::string owner_link(const model::Pod& pod) {
  if (pod.meta.owner_references.empty()) {
    return {};
  }
  const auto& owner = pod.meta.owner_references.front();
  std::string link = "/apis/" + owner.api_version + "/namespaces/" + pod.meta.namespace_ + "/";
  link += resource_label(owner.kind);
  return link.append("s/").append(owner.name);
}

Labels state_labels(const model::Pod& pod, const scheduling::NodeRecord* record) {
  static const model::StringMap kNone;
  const auto& labels = record != nullptr && record->node ? record->node->meta.labels : kNone;
  const auto label = [&labels](std::string_view key) -> std::string_view {
    const auto found = labels.find(key);
    return found == labels.end() ? std::string_view() : found->second;
  };
  Labels text;
  text.add("name", pod.meta.name).add("namespace", pod.meta.namespace_);
  text.add("owner", owner_link(pod)).add("node", pod.spec.node_name);
  text.add("scheduled", model::is_true(pod.status.conditions, "PodScheduled") ? "true" : "false");
  text.add("nodepool", label(model::kNodePoolLabel)).add("zone", label(model::kZoneLabel));
  text.add("arch", label(model::kArchLabel));
  text.add("capacity_type", label(model::kCapacityTypeLabel));
  text.add("instance_type", label(model::kInstanceTypeLabel));
  text.add("phase", pod.status.phase);
  text.add("ready", model::is_true(pod.status.conditions, "Ready") ? "true" : "false");
  text.add("managed", record != nullptr && record->managed() ? "true" : "false");
  return text;
}

void write_states(Text& text, const scheduling::Snapshot& snapshot) {
  text.gauge("karpenter_pods_state", "1 for each pod that has not ended, with where it is.");
  for (const auto& record : snapshot.nodes) {
    for (const auto& pod : record->pods) {
      text.sample(state_labels(*pod, record.get()), 1);
    }
  }
  for (const auto& pod : snapshot.pending_pods) {
    text.sample(state_labels(*pod, nullptr), 1);
  }
}

struct WaitingPod {
  const model::Pod* pod;
  PlanTimes times;
  Labels labels;
};

using Since = std::function<std::optional<base::TimePoint>(const WaitingPod&)>;

void write_waits(Text& text, const std::vector<WaitingPod>& pods, base::TimePoint now,
                 const Since& since) {
  for (const auto& waiting : pods) {
    if (const auto begun = since(waiting)) {
      text.sample(waiting.labels, std::max(0.0, seconds_since(*begun, now)));
    }
  }
}

bool is_unbound(const WaitingPod& waiting) {
  return waiting.pod->spec.node_name.empty();
}

std::vector<WaitingPod> waiting_pods(const PageInput& input) {
  std::vector<WaitingPod> pods;
  const auto add = [&](const model::Pod& pod) {
    WaitingPod waiting{.pod = &pod, .times = input.chronicle.times_of(pod.meta.uid), .labels = {}};
    waiting.labels.add("name", pod.meta.name).add("namespace", pod.meta.namespace_);
    pods.push_back(std::move(waiting));
  };
  for (const auto& pod : input.snapshot.pending_pods) {
    add(*pod);
  }
  for (const auto& record : input.snapshot.nodes) {
    for (const auto& pod : record->pods) {
      if (pod->status.phase == "Pending") {
        add(*pod);
      }
    }
  }
  return pods;
}

void write_waiting(Text& text, const PageInput& input) {
  const auto pods = waiting_pods(input);
  const auto write = [&](std::string_view name, std::string_view help, const Since& since) {
    text.gauge(name, help);
    write_waits(text, pods, input.now, since);
  };
  using Time = std::optional<base::TimePoint>;
  write("karpenter_pods_unstarted_time_seconds", "Age of the pod, which does not run yet.",
        [](const auto& waiting) -> Time { return waiting.pod->meta.creation_timestamp; });
  write("karpenter_pods_unbound_time_seconds", "Age of the pod, which has no node yet.",
        [](const auto& waiting) -> Time {
          return is_unbound(waiting) ? waiting.pod->meta.creation_timestamp : std::nullopt;
        });
  write("karpenter_pods_provisioning_unbound_time_seconds",
        "How long ago a plan first had a place for the pod, which has no node yet.",
        [](const auto& waiting) -> Time {
          return is_unbound(waiting) ? waiting.times.placed : std::nullopt;
        });
  write("karpenter_pods_provisioning_unstarted_time_seconds",
        "How long ago a plan first had a place for the pod, which does not run yet.",
        [](const auto& waiting) -> Time { return waiting.times.placed; });
  write("karpenter_pods_provisioning_scheduling_undecided_time_seconds",
        "How long ago the pod became part of a plan that is not done.",
        [](const auto& waiting) -> Time {
          return waiting.times.decided ? std::nullopt : waiting.times.considered;
        });
}

void write_zones(Text& text, const scheduling::Snapshot& snapshot) {
  Zones zones(snapshot);
  std::map<std::string, int> counts;
  int ignored = 0;
  for (const auto& pod : snapshot.pending_pods) {
    ++counts[zones.of(*pod)];
    ignored +=
        model::is_reported_unschedulable(*pod) && !scheduling::is_provisionable(*pod) ? 1 : 0;
  }
  text.gauge("karpenter_scheduler_pending_pods_by_effective_zone_count",
             "Pods without a node by the zone they can only go to; flexible: any of several, none: "
             "what they ask for contradicts itself.");
  for (const auto& [zone, count] : counts) {
    text.sample(Labels().add("controller", "provisioner").add("zone", zone), count);
  }
  text.gauge("karpenter_scheduler_ignored_pods_count",
             "Pods that kube-scheduler cannot place and that no node is bought for: of DaemonSets, "
             "static, gated, or about to preempt others.");
  text.sample(ignored);
}

}  // namespace

void write_pods(Text& text, const PageInput& input) {
  write_states(text, input.snapshot);
  write_waiting(text, input);
  write_zones(text, input.snapshot);
}

}  // namespace millwright::telemetry
