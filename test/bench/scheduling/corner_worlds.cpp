#include "corner_worlds.hpp"

#include "worlds.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace millwright::scheduling::bench {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

model::Quantity cpu(std::int64_t milli) {
  return model::Quantity::from_milli(milli);
}
model::Quantity memory(std::int64_t mebibytes) {
  return model::Quantity::from_units(mebibytes * kMiB, model::Quantity::Format::BinarySI);
}

std::vector<PodPtr> pods_of(int count, const std::function<void(int, model::Pod&)>& shape) {
  std::vector<PodPtr> pods;
  for (const PodPtr& plain : some_pods(count, Mix::Plain)) {
    auto pod = std::make_shared<model::Pod>(*plain);
    shape(static_cast<int>(pods.size()), *pod);
    pods.push_back(std::move(pod));
  }
  return pods;
}

// No two ask for the same.
std::vector<PodPtr> different_pods(int count) {
  return pods_of(count, [](int i, model::Pod& pod) {
    pod.spec.containers.front().requests = {{"cpu", cpu(100 + i * 7919 % 2000)},
                                            {"memory", memory(64 + i * 104'729LL % 6000)}};
  });
}

model::LabelSelector workload(int number) {
  return {.match_labels = {{"app", "app-" + std::to_string(number)}}};
}

// Each of the applications chooses nodes in its own way.
std::vector<PodPtr> applications(int count) {
  return pods_of(count * 10, [count](int i, model::Pod& pod) {
    pod.spec.node_selector["example.com/app"] = "app-" + std::to_string(i % count);
  });
}

Problem application_problem(std::vector<PodPtr> pods) {
  Problem problem = problem_of(kwok_types(), std::move(pods));
  auto pool = std::make_shared<model::NodePool>(*problem.pools.front().pool);
  pool->template_.requirements.push_back({"example.com/app", model::Operator::Exists, {}, {}});
  problem.pools.front().pool = std::move(pool);
  return problem;
}

// The same, and each spreads its pods over zones.
std::vector<PodPtr> spread_applications(int count) {
  return pods_of(count * 10, [count](int i, model::Pod& pod) {
    const model::LabelSelector selector = workload(i % count);
    pod.meta.labels = selector.match_labels;
    pod.spec.node_selector["example.com/app"] = "app-" + std::to_string(i % count);
    pod.spec.topology_spread.push_back({.max_skew = 1,
                                        .topology_key = std::string(model::kZoneLabel),
                                        .when_unsatisfiable = "DoNotSchedule",
                                        .label_selector = selector});
  });
}

std::vector<PodPtr> spread_over(int count, const std::vector<std::string_view>& keys) {
  return pods_of(count, [&](int i, model::Pod& pod) {
    const model::LabelSelector selector = workload(i % 10);
    pod.meta.labels = selector.match_labels;
    for (const std::string_view key : keys) {
      pod.spec.topology_spread.push_back({.max_skew = 1,
                                          .topology_key = std::string(key),
                                          .when_unsatisfiable = "DoNotSchedule",
                                          .label_selector = selector});
    }
  });
}

std::vector<PodPtr> beside_workloads(int count, int workloads) {
  return pods_of(count, [workloads](int i, model::Pod& pod) {
    const model::LabelSelector selector = workload(i % workloads);
    pod.meta.labels = selector.match_labels;
    pod.spec.affinity.required_pod_affinity.push_back(
        {.label_selector = selector, .topology_key = std::string(model::kHostnameLabel)});
  });
}

std::vector<NodeRecordPtr> nearly_full_nodes(int count) {
  std::vector<NodeRecordPtr> nodes;
  for (const NodeRecordPtr& node : some_nodes(count)) {
    auto record = std::make_shared<NodeRecord>(*node);
    record->pod_requests = {{"cpu", cpu(15'100)}, {"memory", memory(61'300)}};
    nodes.push_back(with_pods(*record, 2));
  }
  return nodes;
}

Problem of_pools(int count, std::vector<PodPtr> pods) {
  Problem problem = problem_of(kwok_types(), std::move(pods));
  const PoolOption first = problem.pools.front();
  problem.pools.clear();
  for (int i = 0; i < count; ++i) {
    auto pool = std::make_shared<model::NodePool>(*first.pool);
    pool->meta.name = "pool-" + std::to_string(i);
    problem.pools.push_back({std::move(pool), first.types});
  }
  return problem;
}

Problem refused_by_limit(int count) {
  Problem problem = problem_of(kwok_types(), different_pods(count));
  auto pool = std::make_shared<model::NodePool>(*problem.pools.front().pool);
  pool->limits = model::ResourceList{{"cpu", cpu(0)}};
  problem.pools.front().pool = std::move(pool);
  return problem;
}

// Each pod has a volume of its own, every second of them one that is in a zone already. A machine
// attaches 24.
Problem with_volumes(int count) {
  auto types = *kwok_types();
  for (InstanceType& type : types) {
    type.volume_limits["disk.example.com"] = 24;
  }
  auto cluster = std::make_shared<Snapshot>();
  auto storage_class = std::make_shared<model::StorageClass>();
  storage_class->meta.name = "disk";
  storage_class->provisioner = "disk.example.com";
  storage_class->volume_binding_mode = "WaitForFirstConsumer";
  cluster->storage_classes.push_back(std::move(storage_class));
  auto pods = pods_of(count, [&](int i, model::Pod& pod) {
    auto claim = std::make_shared<model::PersistentVolumeClaim>();
    claim->meta.name = "data-" + std::to_string(i);
    claim->meta.namespace_ = pod.meta.namespace_;
    claim->storage_class = "disk";
    claim->phase = "Pending";
    if (i % 2 == 0) {
      auto volume = std::make_shared<model::PersistentVolume>();
      volume->meta.name = "volume-" + std::to_string(i);
      volume->csi_driver = "disk.example.com";
      volume->required_node_terms.push_back(
          {.match_expressions = {{std::string(model::kZoneLabel),
                                  model::Operator::In,
                                  {std::string("test-zone-") + static_cast<char>('a' + i / 2 % 4)},
                                  {}}}});
      claim->meta.annotations["pv.kubernetes.io/bind-completed"] = "yes";
      claim->volume_name = volume->meta.name;
      claim->phase = "Bound";
      cluster->volumes.push_back(std::move(volume));
    }
    pod.spec.volumes.push_back({.name = "data", .claim_name = claim->meta.name});
    cluster->volume_claims.push_back(std::move(claim));
  });
  Problem problem = problem_of(std::make_shared<const std::vector<InstanceType>>(std::move(types)),
                               std::move(pods));
  problem.cluster = std::move(cluster);
  return problem;
}

constexpr const char* kGpuDriver = "gpu.example.com";

model::ResourceSlice gpus(int count, std::int64_t gibibytes) {
  model::ResourceSlice slice;
  slice.driver = kGpuDriver;
  for (int i = 0; i < count; ++i) {
    model::Device& device = slice.devices.emplace_back();
    device.name = "gpu-" + std::to_string(i);
    device.attributes["gpu.example.com/model"] = std::string("x1");
    device.capacity["gpu.example.com/memory"] = memory(gibibytes * 1024);
  }
  return slice;
}

void add_claim_template(Snapshot& cluster, std::string name, std::int64_t count,
                        std::vector<std::string> selectors) {
  auto made = std::make_shared<model::ResourceClaimTemplate>();
  made->meta.name = std::move(name);
  made->meta.namespace_ = "default";
  made->spec.requests.push_back({.name = "gpu",
                                 .class_name = "gpu",
                                 .selectors = std::move(selectors),
                                 .count = count,
                                 .first_available = {}});
  cluster.resource_claim_templates.push_back(std::move(made));
}

// Each pod claims devices: any, large ones, or two. Machines of 16 CPUs have four of 40 GiB, those
// of 32 and more have eight of 80 GiB; so have the nodes that there are.
Problem with_devices(int pods, int nodes) {
  auto cluster = std::make_shared<Snapshot>();
  auto device_class = std::make_shared<model::DeviceClass>();
  device_class->meta.name = "gpu";
  device_class->selectors = {R"(device.driver == "gpu.example.com")"};
  cluster->device_classes.push_back(std::move(device_class));
  const std::string large =
      R"(device.capacity["gpu.example.com"].memory.compareTo(quantity("80Gi")) >= 0)";
  add_claim_template(*cluster, "any", 1, {});
  add_claim_template(*cluster, "large", 1, {large});
  add_claim_template(*cluster, "two", 2, {});

  model::DeviceTemplate few{
      .driver = kGpuDriver,
      .node_terms = {{{{std::string(model::kInstanceTypeLabel), model::Operator::In, {}, {}}}, {}}},
      .devices = gpus(4, 40).devices};
  model::DeviceTemplate many = few;
  many.devices = gpus(8, 80).devices;
  const InstanceTypes types = kwok_types();
  for (const InstanceType& type : *types) {
    const std::int64_t cpus = model::get(type.capacity, model::kCpu).units();
    if (cpus >= 16) {
      auto& terms = (cpus == 16 ? few : many).node_terms;
      terms.front().match_expressions.front().values.push_back(type.name);
    }
  }
  std::vector<NodeRecordPtr> records;
  for (const NodeRecordPtr& node : some_nodes(nodes)) {
    auto record = std::make_shared<NodeRecord>(*node);
    auto slice = std::make_shared<model::ResourceSlice>(gpus(4, 40));
    slice->meta.name = slice->pool = slice->node_name = record->name();
    slice->generation = slice->slices_in_pool = 1;
    cluster->resource_slices.push_back(std::move(slice));
    records.push_back(std::move(record));
  }
  std::sort(cluster->resource_slices.begin(), cluster->resource_slices.end(),
            [](const auto& a, const auto& b) { return a->meta.name < b->meta.name; });
  const std::array<std::string, 3> claimed = {"any", "large", "two"};
  Problem problem =
      problem_of(types,
                 pods_of(pods,
                         [&](int i, model::Pod& pod) {
                           pod.spec.resource_claims.push_back(
                               {.name = "gpu",
                                .claim_name = {},
                                .template_name = claimed[static_cast<std::size_t>(i) % 3]});
                         }),
                 std::move(records));
  problem.cluster = std::move(cluster);
  problem.options.resource_claims = true;
  problem.options.device_templates = std::make_shared<const std::vector<model::DeviceTemplate>>(
      std::vector<model::DeviceTemplate>{few, many});
  return problem;
}

}  // namespace

std::vector<Corner> all_corners() {
  const auto different = [](int count) {
    return [count] { return problem_of(kwok_types(), different_pods(count)); };
  };
  const auto spread = [](const std::vector<std::string_view>& keys) {
    return [keys] { return problem_of(kwok_types(), spread_over(2000, keys)); };
  };
  return {
      {"all-different", 200, different(200)},
      {"all-different", 2000, different(2000)},
      {"all-different", 20'000, different(20'000)},
      {"applications", 5000, [] { return application_problem(applications(500)); }},
      {"applications", 20'000, [] { return application_problem(applications(2000)); }},
      {"spread-applications", 5000, [] { return application_problem(spread_applications(500)); }},
      {"spread-applications", 20'000,
       [] { return application_problem(spread_applications(2000)); }},
      {"spread-over-types", 2000, spread({model::kInstanceTypeLabel})},
      {"spread-over-two-keys", 2000, spread({model::kInstanceTypeLabel, model::kZoneLabel})},
      {"500-pools", 5000, [] { return of_pools(500, some_pods(5000, Mix::Selective)); }},
      {"nearly-full-nodes", 5000,
       [] { return problem_of(kwok_types(), different_pods(5000), nearly_full_nodes(5000)); }},
      {"refused-by-limit", 2000, [] { return refused_by_limit(2000); }},
      {"refused-by-limit", 20'000, [] { return refused_by_limit(20'000); }},
      {"volumes", 5000, [] { return with_volumes(5000); }},
      {"devices", 200, [] { return with_devices(200, 20); }},
      {"devices", 2000, [] { return with_devices(2000, 200); }},
      {"affinity-to-workloads", 10'000,
       [] { return problem_of(kwok_types(), beside_workloads(10'000, 1000)); }},
  };
}

}  // namespace millwright::scheduling::bench
