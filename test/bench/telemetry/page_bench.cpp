// What a scrape of /metrics costs on a large cluster: every node with the labels, conditions and
// resources that real ones have, two pods on each.

#include "millwright/telemetry/page.hpp"

#include <benchmark/benchmark.h>

#include <string>

namespace millwright::telemetry {
namespace {

using std::chrono::seconds;

model::ResourceList resources(std::int64_t cpu, std::int64_t gibibytes) {
  return {{"cpu", model::Quantity::from_units(cpu)},
          {"ephemeral-storage", model::Quantity::from_units(gibibytes << 32)},
          {"memory", model::Quantity::from_units(gibibytes << 30)},
          {"pods", model::Quantity::from_units(110)}};
}

std::vector<model::Condition> conditions(std::initializer_list<const char*> types) {
  std::vector<model::Condition> all;
  for (const auto* type : types) {
    all.push_back({.type = type,
                   .status = model::ConditionStatus::True,
                   .reason = type,
                   .last_transition_time = base::TimePoint(seconds(100))});
  }
  return all;
}

scheduling::PodPtr pod(const std::string& name, const std::string& node) {
  auto pod = std::make_shared<model::Pod>();
  pod->meta.name = name;
  pod->meta.namespace_ = "default";
  pod->meta.uid = name;
  pod->meta.creation_timestamp = base::TimePoint(seconds(100));
  pod->meta.owner_references = {
      {.api_version = "apps/v1", .kind = "ReplicaSet", .name = "web-5d7f8c", .controller = true}};
  pod->spec.node_name = node;
  model::Container container;
  container.limits = resources(1, 2);
  pod->spec.containers = {container};
  pod->status.phase = node.empty() ? "Pending" : "Running";
  pod->status.conditions = conditions({"PodScheduled", "Initialized", "ContainersReady", "Ready"});
  return pod;
}

scheduling::NodeRecordPtr node_record(int number) {
  const std::string name = "ip-10-0-" + std::to_string(number) + ".eu-west-1.compute.internal";
  auto node = std::make_shared<model::Node>();
  node->meta.name = name;
  node->meta.creation_timestamp = base::TimePoint(seconds(100));
  node->meta.labels = {{"karpenter.sh/nodepool", "pool-" + std::to_string(number % 10)},
                       {"karpenter.sh/initialized", "true"},
                       {"karpenter.sh/registered", "true"},
                       {"karpenter.sh/capacity-type", "on-demand"},
                       {"karpenter.k8s.aws/ec2nodeclass", "default"},
                       {"kubernetes.io/arch", "amd64"},
                       {"kubernetes.io/hostname", name},
                       {"kubernetes.io/os", "linux"},
                       {"node.kubernetes.io/instance-type", "m6i.4xlarge"},
                       {"topology.kubernetes.io/region", "eu-west-1"},
                       {"topology.kubernetes.io/zone", "eu-west-1a"}};
  node->capacity = resources(16, 64);
  node->allocatable = resources(15, 60);
  node->conditions = conditions({"MemoryPressure", "DiskPressure", "PIDPressure", "Ready"});
  auto claim = std::make_shared<model::NodeClaim>();
  claim->meta.name = "pool-" + std::to_string(number);
  claim->meta.labels = node->meta.labels;
  claim->node_class_ref = {.group = "karpenter.k8s.aws", .kind = "EC2NodeClass", .name = "default"};
  claim->conditions = conditions(
      {"Launched", "Registered", "Initialized", "Ready", "Consolidatable", "ConsistentStateFound"});
  auto record = std::make_shared<scheduling::NodeRecord>();
  record->node = node;
  record->claim = claim;
  record->pods = {pod("web-5d7f8c-" + std::to_string(2 * number), name),
                  pod("web-5d7f8c-" + std::to_string(2 * number + 1), name)};
  record->pod_requests = resources(2, 4);
  record->daemon_requests = resources(1, 1);
  return record;
}

// Nodes; each with two pods; as many pods as nodes / 10 wait.
void scrape(benchmark::State& state) {
  scheduling::Snapshot snapshot;
  snapshot.synced = true;
  for (int i = 0; i < 10; ++i) {
    auto pool = std::make_shared<model::NodePool>();
    pool->meta.name = "pool-" + std::to_string(i);
    pool->resources = resources(100, 100);
    snapshot.node_pools.push_back(pool);
  }
  const int nodes = static_cast<int>(state.range(0));
  for (int i = 0; i < nodes; ++i) {
    snapshot.nodes.push_back(node_record(i));
  }
  for (int i = 0; i < nodes / 10; ++i) {
    snapshot.pending_pods.push_back(pod("late-" + std::to_string(i), ""));
  }
  base::Metrics metrics;
  const Chronicle chronicle(metrics, base::TimePoint(seconds(100)));
  const scheduling::Catalog catalog;
  std::size_t size = 0;
  for (auto _ : state) {
    const auto page = render_page({.snapshot = snapshot,
                                   .catalog = catalog,
                                   .chronicle = chronicle,
                                   .now = base::TimePoint(seconds(5000))},
                                  size);
    size = page.size();
    benchmark::DoNotOptimize(page);
  }
  state.counters["MB"] = static_cast<double>(size) / 1e6;
}
BENCHMARK(scrape)->Arg(100)->Arg(1000)->Arg(5000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace millwright::telemetry
