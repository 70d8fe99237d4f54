#include "worlds.hpp"

#include <array>
#include <random>
#include <utility>

namespace millwright::scheduling::bench {
namespace {

constexpr std::int64_t kGi = std::int64_t{1} << 30;
constexpr std::int64_t kMi = std::int64_t{1} << 20;

model::Quantity milli(std::int64_t value) {
  return model::Quantity::from_milli(value);
}
model::Quantity bytes(std::int64_t value) {
  return model::Quantity::from_units(value, model::Quantity::Format::BinarySI);
}

Offering offering_of(const std::string& zone, std::string_view capacity_type, double price) {
  Offering offering;
  offering.requirements.add(Requirement::in(model::kZoneLabel, {zone}));
  offering.requirements.add(
      Requirement::in(model::kCapacityTypeLabel, {std::string(capacity_type)}));
  offering.price = price;
  return offering;
}

InstanceType make_type(std::string name, std::int64_t cpu_milli, std::int64_t memory,
                       const std::string& arch, const std::string& os) {
  InstanceType type;
  type.name = std::move(name);
  const std::int64_t pods = std::min<std::int64_t>(16 * cpu_milli / 1000, 1024);
  type.capacity = {{"cpu", milli(cpu_milli)},
                   {"memory", bytes(memory)},
                   {"pods", milli(pods * 1000)},
                   {"ephemeral-storage", bytes(20 * kGi)}};
  type.overhead = {{"cpu", milli(100)}, {"memory", bytes(10 * kMi)}};
  const double price =
      0.025 * static_cast<double>(cpu_milli) / 1000 + 0.001 * static_cast<double>(memory) / 1e9;
  std::vector<std::string> zones;
  for (const char* suffix : {"a", "b", "c", "d"}) {
    zones.push_back(std::string("test-zone-") + suffix);
    type.offerings.push_back(offering_of(zones.back(), model::kSpot, 0.7 * price));
    type.offerings.push_back(offering_of(zones.back(), model::kOnDemand, price));
  }
  type.requirements.add(Requirement::in(model::kInstanceTypeLabel, {type.name}));
  type.requirements.add(Requirement::in(model::kArchLabel, {arch}));
  type.requirements.add(Requirement::in(model::kOsLabel, {os}));
  type.requirements.add(Requirement::in(model::kZoneLabel, zones));
  type.requirements.add(Requirement::in(
      model::kCapacityTypeLabel, {std::string(model::kSpot), std::string(model::kOnDemand)}));
  return type;
}

}  // namespace

InstanceTypes kwok_types() {
  std::vector<InstanceType> list;
  for (const int cpu : {1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256}) {
    for (const auto& [family, ratio] : {std::pair{"c", 2}, {"s", 4}, {"m", 8}}) {
      for (const char* os : {"linux", "windows"}) {
        for (const char* arch : {"amd64", "arm64"}) {
          list.push_back(
              make_type(std::string(family) + "-" + std::to_string(cpu) + "x-" + arch + "-" + os,
                        cpu * 1000, cpu * ratio * kGi, arch, os));
        }
      }
    }
  }
  return std::make_shared<const std::vector<InstanceType>>(std::move(list));
}

InstanceTypes many_types(int count) {
  std::vector<InstanceType> list;
  for (int i = 0; i < count; ++i) {
    const std::int64_t cpu = 1000 * (1 + i % 96) + 10 * (i / 96);
    const std::int64_t ratio = 2 << (i % 3);
    list.push_back(make_type("type-" + std::to_string(i), cpu, cpu * ratio * kGi / 1000,
                             i % 4 == 0 ? "arm64" : "amd64", "linux"));
  }
  return std::make_shared<const std::vector<InstanceType>>(std::move(list));
}

std::vector<PodPtr> some_pods(int count, Mix mix, std::uint32_t seed) {
  std::mt19937 random(seed);  // mt19937 itself is the same everywhere; distributions are not
  const auto choose = [&](const auto& from) { return from[random() % from.size()]; };
  constexpr std::array<std::int64_t, 5> kCpus = {100, 250, 500, 1000, 1500};
  constexpr std::array<std::int64_t, 6> kMemories = {100, 256, 512, 1024, 2048, 4096};
  std::vector<PodPtr> pods;
  pods.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    auto pod = std::make_shared<model::Pod>();
    pod->meta.name = "pod-" + std::to_string(i);
    pod->meta.namespace_ = "default";
    pod->meta.uid = "uid-" + std::to_string(1'000'000 + i);
    const auto cpu = choose(kCpus);
    const auto memory = choose(kMemories) * (mix == Mix::MemoryHeavy ? 2 : 1);
    pod->spec.containers.push_back(
        {.name = "main", .requests = {{"cpu", milli(cpu)}, {"memory", bytes(memory * kMi)}}});
    if (mix == Mix::Selective) {
      const auto kind = random() % 6;
      if (kind == 0) {
        pod->spec.node_selector[std::string(model::kZoneLabel)] =
            std::string("test-zone-") + static_cast<char>('a' + random() % 4);
      } else if (kind == 1) {
        pod->spec.node_selector[std::string(model::kArchLabel)] =
            random() % 2 == 0 ? "amd64" : "arm64";
      } else if (kind == 2) {
        pod->spec.node_selector[std::string(model::kCapacityTypeLabel)] = "on-demand";
      }
    }
    pods.push_back(std::move(pod));
  }
  return pods;
}

std::vector<NodeRecordPtr> some_nodes(int count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<NodeRecordPtr> nodes;
  for (int i = 0; i < count; ++i) {
    auto node = std::make_shared<model::Node>();
    node->meta.name = "node-" + std::to_string(100'000 + i);
    node->meta.labels = {{"kubernetes.io/hostname", node->meta.name},
                         {"kubernetes.io/arch", "amd64"},
                         {"kubernetes.io/os", "linux"},
                         {"karpenter.sh/nodepool", "default"},
                         {"karpenter.sh/registered", "true"},
                         {"karpenter.sh/initialized", "true"},
                         {"karpenter.sh/capacity-type", i % 2 == 0 ? "spot" : "on-demand"},
                         {"topology.kubernetes.io/zone",
                          std::string("test-zone-") + static_cast<char>('a' + i % 4)}};
    node->provider_id = "bench:///" + node->meta.name;
    node->capacity = {
        {"cpu", milli(16'000)}, {"memory", bytes(64 * kGi)}, {"pods", milli(110'000)}};
    node->allocatable = {
        {"cpu", milli(15'900)}, {"memory", bytes(63 * kGi)}, {"pods", milli(110'000)}};
    auto claim = std::make_shared<model::NodeClaim>();
    claim->meta.name = "claim-" + node->meta.name;
    claim->meta.labels = node->meta.labels;
    claim->provider_id = node->provider_id;
    auto record = std::make_shared<NodeRecord>();
    record->pod_requests = {{"cpu", milli(static_cast<std::int64_t>(random() % 15'901))},
                            {"memory", bytes(static_cast<std::int64_t>(random() % 60) * kGi)},
                            {"pods", milli(10'000)}};
    record->node = std::move(node);
    record->claim = std::move(claim);
    nodes.push_back(std::move(record));
  }
  return nodes;
}

NodeRecordPtr with_pods(const NodeRecord& node, int count) {
  auto record = std::make_shared<NodeRecord>(node);
  record->pod_requests.clear();
  for (int i = 0; i < count; ++i) {
    auto pod = std::make_shared<model::Pod>();
    pod->meta.name = node.name() + "-pod-" + std::to_string(i);
    pod->meta.uid = pod->meta.name;
    pod->meta.namespace_ = "default";
    pod->spec.node_name = node.name();
    const auto cpu = model::get(node.pod_requests, model::kCpu).milli() / count;
    const auto memory = model::get(node.pod_requests, model::kMemory).units() / count;
    pod->spec.containers.push_back(
        {.name = "main", .requests = {{"cpu", milli(cpu)}, {"memory", bytes(memory)}}});
    pod->status.phase = "Running";
    model::add_to(record->pod_requests, effective_requests(*pod));
    record->pods.push_back(std::move(pod));
  }
  return record;
}

Problem problem_of(InstanceTypes types, std::vector<PodPtr> pods,
                   std::vector<NodeRecordPtr> nodes) {
  auto pool = std::make_shared<model::NodePool>();
  pool->meta.name = "default";
  pool->template_.node_class_ref = {"karpenter.kwok.sh", "KWOKNodeClass", "default"};
  Problem problem;
  problem.pools.push_back({std::move(pool), std::move(types)});
  problem.pods = std::move(pods);
  problem.counted_nodes = nodes;
  problem.nodes = std::move(nodes);
  return problem;
}

}  // namespace millwright::scheduling::bench
