#include "telemetry/sections.hpp"

namespace millwright::telemetry {
namespace {

void write_state(Text& text, const PageInput& input) {
  const auto& snapshot = input.snapshot;
  text.gauge("karpenter_cluster_state_node_count", "Nodes, and NodeClaims without a node yet.");
  text.sample(static_cast<double>(snapshot.nodes.size()));
  text.gauge("karpenter_cluster_state_synced",
             "1 while every kind that decisions need has been listed, or may not be, and is heard "
             "of, else 0.");
  text.sample(snapshot.synced ? 1 : 0);
  text.gauge("karpenter_cluster_state_unsynced_time_seconds",
             "For how long the cluster state has been incomplete or stale; 0 when it is neither.");
  const base::TimePoint since = snapshot.stale_since.value_or(input.chronicle.begun());
  text.sample(snapshot.synced ? 0 : seconds_since(since, input.now));
}

void write_solve(Text& text, const PageInput& input) {
  const auto solving = input.chronicle.solving();
  Labels labels;
  if (solving) {
    labels.add("controller", "provisioner").add("scheduling_id", solving->id);
  }
  text.gauge("karpenter_scheduler_queue_depth", "Pods of the plan that is being made.");
  if (solving) {
    text.sample(labels, static_cast<double>(solving->pods));
  }
  text.gauge("karpenter_scheduler_unfinished_work_seconds",
             "For how long the plan that is not done has been in the making.");
  if (solving) {
    text.sample(labels, seconds_since(solving->begun, input.now));
  }
}

}  // namespace

void write_cluster(Text& text, const PageInput& input) {
  write_state(text, input);
  write_solve(text, input);
  text.gauge("karpenter_voluntary_disruption_eligible_nodes",
             "Nodes that could go for the reason when disruption last looked, budgets aside.");
  for (const auto& [reason, nodes] : input.chronicle.eligible()) {
    text.sample(Labels().add("reason", reason), static_cast<double>(nodes));
  }
}

}  // namespace millwright::telemetry
