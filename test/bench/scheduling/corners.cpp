#include "corners.hpp"

#include "worlds.hpp"

#include <boost/json.hpp>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace millwright::scheduling::bench {
namespace {

namespace json = boost::json;

constexpr unsigned kMaxCpuSeconds = 300;
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
    record->pod_requests = {
        {"cpu", cpu(15'100)}, {"memory", memory(61'300)}, {"pods", cpu(20'000)}};
    nodes.push_back(std::move(record));
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

struct Corner {
  const char* name;
  std::function<Problem()> make;
};

std::vector<Corner> all_corners() {
  const auto different = [](int count) {
    return [count] { return problem_of(kwok_types(), different_pods(count)); };
  };
  const auto spread = [](const std::vector<std::string_view>& keys) {
    return [keys] { return problem_of(kwok_types(), spread_over(2000, keys)); };
  };
  return {
      {"all-different", different(200)},
      {"all-different", different(2000)},
      {"all-different", different(20'000)},
      {"applications", [] { return application_problem(applications(500)); }},
      {"applications", [] { return application_problem(applications(2000)); }},
      {"spread-applications", [] { return application_problem(spread_applications(500)); }},
      {"spread-applications", [] { return application_problem(spread_applications(2000)); }},
      {"spread-over-types", spread({model::kInstanceTypeLabel})},
      {"spread-over-two-keys", spread({model::kInstanceTypeLabel, model::kZoneLabel})},
      {"500-pools", [] { return of_pools(500, some_pods(5000, Mix::Selective)); }},
      {"nearly-full-nodes",
       [] { return problem_of(kwok_types(), different_pods(5000), nearly_full_nodes(5000)); }},
      {"refused-by-limit", [] { return refused_by_limit(2000); }},
      {"refused-by-limit", [] { return refused_by_limit(20'000); }},
      {"volumes", [] { return with_volumes(5000); }},
      {"affinity-to-workloads",
       [] { return problem_of(kwok_types(), beside_workloads(10'000, 1000)); }},
  };
}

struct Sizes {
  std::size_t pods = 0;
  std::size_t claims = 0;
  std::size_t refused = 0;
  double price = 0;
  double cpu_seconds = 0;
};

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec) / 1e6;
}

// In the process of the row: the number of pods first, what came of them once it is known.
[[noreturn]] void plan_in_child(const Corner& corner, int out) {
  const Problem problem = corner.make();
  const double before = cpu_seconds();
  const rlimit limit{static_cast<rlim_t>(before) + kMaxCpuSeconds, RLIM_INFINITY};
  setrlimit(RLIMIT_CPU, &limit);
  Sizes sizes{.pods = problem.pods.size()};
  bool written = write(out, &sizes, sizeof(sizes)) == sizeof(sizes);
  const Plan plan = solve(problem);
  sizes.claims = plan.claims.size();
  sizes.refused = plan.refusals.size();
  for (const PlannedClaim& claim : plan.claims) {
    sizes.price += claim.price;
  }
  sizes.cpu_seconds = cpu_seconds() - before;
  written = written && write(out, &sizes, sizeof(sizes)) == sizeof(sizes);
  _exit(written ? 0 : 1);
}

base::Result<json::object> row_of(const Corner& corner) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) {
    return tl::unexpected(base::Error{.message = "corners: no pipe to the row's process"});
  }
  const pid_t child = fork();
  if (child == 0) {
    plan_in_child(corner, ends[1]);
  }
  close(ends[1]);
  Sizes sizes;
  int read_in = 0;
  while (child > 0 && read(ends[0], &sizes, sizeof(sizes)) == sizeof(sizes)) {
    ++read_in;
  }
  close(ends[0]);
  int status = 0;
  rusage usage{};
  if (child < 0 || wait4(child, &status, 0, &usage) != child || read_in == 0) {
    return tl::unexpected(base::Error{.message = std::string("corners: the process of ") +
                                                 corner.name + " ended before it planned"});
  }
  json::object row{{"case", corner.name}, {"pods", sizes.pods}};
  if (read_in < 2) {
    std::printf("%-24s %7zu   ended after %u s\n", corner.name, sizes.pods, kMaxCpuSeconds);
    return row;
  }
  const double peak = static_cast<double>(usage.ru_maxrss) / 1024;
  std::printf("%-24s %7zu %9.3f %7.0f %7zu %9.2f %8zu\n", corner.name, sizes.pods,
              sizes.cpu_seconds, peak, sizes.claims, sizes.price, sizes.refused);
  row["cpu_seconds"] = sizes.cpu_seconds;
  row["peak_mib"] = peak;
  row["claims"] = sizes.claims;
  row["price"] = sizes.price;
  row["refused"] = sizes.refused;
  return row;
}

}  // namespace

base::Result<json::value> corners(const std::string& only) {
  std::printf("%-24s %7s %9s %7s %7s %9s %8s\n", "corner", "pods", "CPU s", "MiB", "claims", "$/h",
              "refused");
  std::fflush(stdout);
  json::array rows;
  for (const Corner& corner : all_corners()) {
    if (!only.empty() && only != corner.name) {
      continue;
    }
    auto row = row_of(corner);
    if (!row) {
      return tl::unexpected(row.error());
    }
    std::fflush(stdout);
    rows.push_back(*std::move(row));
  }
  return rows;
}

}  // namespace millwright::scheduling::bench
