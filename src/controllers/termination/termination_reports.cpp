#include "controllers/termination/termination_reports.hpp"

#include <algorithm>

namespace millwright::controllers {
namespace {

constexpr std::size_t kNamedVolumes = 5;

// The HTTP status that an eviction's failure stands for.
const char* status_of(base::ErrorKind kind) {
  switch (kind) {
    case base::ErrorKind::NotFound:
      return "404";
    case base::ErrorKind::Conflict:
      return "409";
    case base::ErrorKind::Throttled:
      return "429";
    case base::ErrorKind::Unauthorized:
      return "401";
    case base::ErrorKind::Denied:
      return "403";
    case base::ErrorKind::Invalid:
      return "422";
    case base::ErrorKind::Timeout:
      return "504";
    default:
      return "500";
  }
}

// Karpenter's: a quarter of an hour to thirty days.
const std::vector<double>& lifetime_buckets() {
  constexpr double kHour = 3600;
  constexpr double kDay = 24 * kHour;
  static const std::vector<double> kBuckets{
      900,       1800,       2700,       kHour,      2 * kHour,  4 * kHour, 6 * kHour,
      8 * kHour, 10 * kHour, 12 * kHour, 16 * kHour, 20 * kHour, kDay,      2 * kDay,
      3 * kDay,  5 * kDay,   10 * kDay,  15 * kDay,  20 * kDay,  25 * kDay, 30 * kDay};
  return kBuckets;
}

kube::Event node_event(const model::Node& node, bool warning, std::string reason,
                       std::string message) {
  return {.object = kube::reference_to(model::kNodeResource, node.meta),
          .warning = warning,
          .reason = std::move(reason),
          .message = std::move(message),
          .dedupe_values = {}};
}

kube::Event pod_event(const model::Pod& pod, std::string reason, std::string message) {
  return {.object = kube::reference_to(model::kPodResource, pod.meta),
          .warning = false,
          .reason = std::move(reason),
          .message = std::move(message),
          .dedupe_values = {}};
}

}  // namespace

void count_eviction(Services& services, const base::Error* error) {
  services.metrics.count("karpenter_pods_eviction_requests_total", "Evictions asked for.",
                         {{"code", error == nullptr ? "200" : status_of(error->kind)}});
}

void count_terminated(Services& services, const model::Node& node) {
  const base::MetricLabels pool{{"nodepool", node.meta.label(model::kNodePoolLabel)}};
  const base::TimePoint now = services.loop.now();
  const auto seconds_since = [now](base::TimePoint then) {
    return std::max(0.0, std::chrono::duration<double>(now - then).count());
  };
  services.metrics.count("karpenter_nodes_terminated_total", "Nodes that are gone.",
                         {{"nodepool", node.meta.label(model::kNodePoolLabel)},
                          {"zone", node.meta.label(model::kZoneLabel)}});
  if (node.meta.deletion_timestamp) {
    services.metrics.summarize("karpenter_nodes_termination_duration_seconds",
                               "From a node's deletion until it was let go.", pool,
                               seconds_since(*node.meta.deletion_timestamp));
  }
  if (node.meta.creation_timestamp) {
    services.metrics.observe("karpenter_nodes_lifetime_duration_seconds",
                             "How long the nodes lived that are gone.", pool,
                             seconds_since(*node.meta.creation_timestamp), lifetime_buckets());
  }
}

void tell_evicted(Services& services, const model::Pod& pod, const std::string& reason) {
  services.events.record(pod_event(pod, "Evicted", "Evicted pod: " + reason));
  services.metrics.count("karpenter_pods_drained_total", "Pods evicted.", {{"reason", reason}});
}

void tell_force_deleted(Services& services, const model::Pod& pod, std::int64_t grace_seconds,
                        base::TimePoint deadline) {
  services.events.record(pod_event(pod, "Disrupted",
                                   "Deleting the pod with " + std::to_string(grace_seconds) +
                                       " s of grace: the node must be gone by " +
                                       base::format_rfc3339(deadline) +
                                       "; disruption budgets and do-not-disrupt no longer count"));
}

void tell_eviction_refused(Services& services, const model::Pod& pod, const std::string& node,
                           const base::Error& error) {
  services.events.record(
      {.object = {.api_version = "v1", .kind = "Node", .key = {{}, node}, .uid = node},
       .warning = true,
       .reason = "FailedDraining",
       .message = "Failed to drain node, evicting pod " + model::key_of(pod.meta).to_string() +
                  ": " + error.message,
       .dedupe_values = {pod.meta.uid}});
}

void tell_deadline(Services& services, const model::Node& node, base::TimePoint deadline) {
  services.events.record(
      node_event(node, true, "TerminationGracePeriodExpiring",
                 "All pods will be deleted by " + base::format_rfc3339(deadline)));
}

void tell_waiting(Services& services, const model::Node& node, std::size_t pods) {
  auto event = node_event(
      node, true, "FailedDraining",
      "Failed to drain node, " + std::to_string(pods) + " pods are waiting to be evicted");
  event.dedupe_values = {"waiting"};
  services.events.record(std::move(event));
}

void tell_attached(Services& services, const model::Node& node,
                   const std::vector<std::string>& volumes) {
  std::string message = "Awaiting detachment of ";
  const std::size_t named = std::min(volumes.size(), kNamedVolumes);
  for (std::size_t i = 0; i < named; ++i) {
    message += (i == 0 ? "" : ", ") + volumes[i];
  }
  if (named < volumes.size()) {
    message += " and " + std::to_string(volumes.size() - named) + " other(s)";
  }
  services.events.record(node_event(node, false, "AwaitingVolumeDetachment", std::move(message)));
}

}  // namespace millwright::controllers
