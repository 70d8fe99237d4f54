#include "mixes.hpp"

#include "worlds.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <string>
#include <utility>

namespace millwright::scheduling::bench {
namespace {

constexpr std::int64_t kMi = std::int64_t{1} << 20;

model::Quantity bytes(std::int64_t value) {
  return model::Quantity::from_units(value, model::Quantity::Format::BinarySI);
}

class Deployments {
 public:
  Deployments(const WorkloadMix& mix, std::uint32_t seed) : mix_(mix), random_(seed) {}

  std::vector<PodPtr> pods(int count) {
    std::vector<PodPtr> result;
    while (static_cast<int>(result.size()) < count) {
      const model::Pod like = pod_of("app-" + std::to_string(made_++));
      const int replicas = next_replicas();
      for (int i = 0; i < replicas && static_cast<int>(result.size()) < count; ++i) {
        auto pod = std::make_shared<model::Pod>(like);
        pod->meta.name += "-" + std::to_string(i);
        pod->meta.uid = pod->meta.name;
        result.push_back(std::move(pod));
      }
    }
    return result;
  }

 private:
  int pick(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
  bool with_chance(int per_cent) { return pick(100) < per_cent; }

  int next_replicas() {
    if (mix_.all_different) {
      return 1;
    }
    return mix_.big_and_small ? (big_ ? 2 + pick(7) : 10 + pick(40)) : 3 + pick(30);
  }

  std::int64_t cpu() {
    constexpr std::array<std::int64_t, 10> kUsual = {100, 200,  250,  400,  500,
                                                     750, 1000, 1500, 2000, 3000};
    if (mix_.all_different) {
      return 100 + pick(2901);
    }
    if (!mix_.big_and_small) {
      return kUsual[random_() % kUsual.size()];
    }
    big_ = with_chance(50);
    return big_ ? 4000 + 500LL * pick(17) : 50 + 50LL * pick(4);
  }

  model::Pod pod_of(const std::string& app) {
    model::Pod pod;
    pod.meta.name = app;
    pod.meta.namespace_ = "default";
    pod.meta.labels = {{"app", app}};
    const std::int64_t milli = cpu();
    const double ratio = mix_.ratios[random_() % mix_.ratios.size()] * (80 + pick(41)) / 100.0;
    const auto memory = static_cast<std::int64_t>(1.024 * ratio * static_cast<double>(milli));
    pod.spec.containers.push_back({.name = "main",
                                   .requests = {{"cpu", model::Quantity::from_milli(milli)},
                                                {"memory", bytes((memory + 1) * kMi)}}});
    add_selectors(pod);
    add_topology(pod, app);
    return pod;
  }

  void add_selectors(model::Pod& pod) {
    auto& selector = pod.spec.node_selector;
    if (with_chance(mix_.capacity_types)) {
      selector[std::string(model::kCapacityTypeLabel)] = with_chance(50) ? "on-demand" : "spot";
    }
    if (with_chance(mix_.zones)) {
      selector[std::string(model::kZoneLabel)] =
          std::string("test-zone-") + static_cast<char>('a' + pick(3));
    }
    if (with_chance(mix_.architectures)) {
      selector[std::string(model::kArchLabel)] = with_chance(50) ? "amd64" : "arm64";
    }
  }

  void add_topology(model::Pod& pod, const std::string& app) {
    const model::LabelSelector selector{.match_labels = {{"app", app}}};
    const auto spread = [&](std::string_view key) {
      pod.spec.topology_spread.push_back({.max_skew = 1,
                                          .topology_key = std::string(key),
                                          .when_unsatisfiable = "DoNotSchedule",
                                          .label_selector = selector});
    };
    if (with_chance(mix_.spread_over_zones)) {
      spread(model::kZoneLabel);
    }
    if (with_chance(mix_.spread_over_hosts)) {
      spread(model::kHostnameLabel);
    }
    if (with_chance(mix_.apart_by_host)) {
      pod.spec.affinity.required_pod_anti_affinity.push_back(
          {.label_selector = selector, .topology_key = std::string(model::kHostnameLabel)});
    }
  }

  const WorkloadMix& mix_;
  std::mt19937 random_;  // the generator is the same everywhere; distributions are not
  int made_ = 0;
  bool big_ = false;
};

std::shared_ptr<const model::DaemonSet> daemon(const std::string& name, std::int64_t milli,
                                               std::int64_t mebibytes) {
  auto set = std::make_shared<model::DaemonSet>();
  set->meta.name = set->meta.uid = name;
  set->meta.namespace_ = "kube-system";
  set->pod_template.spec.containers.push_back(
      {.name = "main",
       .requests = {{"cpu", model::Quantity::from_milli(milli)},
                    {"memory", bytes(mebibytes * kMi)}}});
  set->pod_template.spec.tolerations.push_back({.op = "Exists"});
  return set;
}

}  // namespace

std::vector<WorkloadMix> workload_mixes() {
  return {
      {.name = "1:1", .ratios = {1}},
      {.name = "1:2", .ratios = {2}},
      {.name = "1:4", .ratios = {4}},
      {.name = "1:8", .ratios = {8}},
      {.name = "1:16", .ratios = {16}},
      {.name = "ratios-mixed", .ratios = {1, 2, 4, 8, 16}},
      {.name = "big-and-small", .big_and_small = true},
      {.name = "capacity-types", .capacity_types = 60},
      {.name = "selectors", .capacity_types = 30, .zones = 20, .architectures = 40},
      {.name = "daemons", .daemons = true},
      {.name = "partly-full-nodes", .nodes = 40},
      {.name = "zone-spread", .spread_over_zones = 50},
      {.name = "host-spread", .spread_over_hosts = 40},
      {.name = "anti-affinity", .apart_by_host = 40},
      {.name = "everything",
       .ratios = {1, 2, 4, 8, 16},
       .spread_over_zones = 25,
       .spread_over_hosts = 10,
       .apart_by_host = 15,
       .capacity_types = 20,
       .zones = 10,
       .architectures = 20,
       .daemons = true,
       .nodes = 20},
  };
}

Problem problem_of(const WorkloadMix& mix, InstanceTypes types, int pods, std::uint32_t seed) {
  std::vector<NodeRecordPtr> nodes = some_nodes(mix.nodes, seed);
  // A zone in which nothing is sold: whatever must be spread over zones would have to wait.
  std::erase_if(nodes, [](const NodeRecordPtr& record) {
    return record->labels().at(std::string(model::kZoneLabel)) == "test-zone-d";
  });
  std::transform(nodes.begin(), nodes.end(), nodes.begin(),
                 [](const NodeRecordPtr& record) { return with_pods(*record, 10); });
  Problem problem =
      problem_of(std::move(types), Deployments(mix, seed).pods(pods), std::move(nodes));
  if (mix.daemons) {
    problem.daemon_sets = {daemon("logs", 100, 200), daemon("network", 150, 256),
                           daemon("metrics", 50, 64)};
  }
  for (PoolOption& option : problem.pools) {
    option.node_overhead = kNodeOverhead;
  }
  return problem;
}

double cost_of(const Plan& plan) {
  double cost = kNodeOverhead * static_cast<double>(plan.claims.size());
  for (const PlannedClaim& claim : plan.claims) {
    cost += claim.price;
  }
  return cost;
}

double mean_cost_of(const Problem& problem, const Plan& plan) {
  std::map<std::string, const InstanceType*> by_name;
  for (const PoolOption& option : problem.pools) {
    for (const InstanceType& type : *option.types) {
      by_name.emplace(type.name, &type);
    }
  }
  double cost = kNodeOverhead * static_cast<double>(plan.claims.size());
  for (const PlannedClaim& claim : plan.claims) {
    double sum = 0;
    int types = 0;
    for (const auto& name : claim.instance_types) {
      if (const auto* offering = cheapest_offering(*by_name.at(name), claim.requirements)) {
        sum += offering->price;
        ++types;
      }
    }
    cost += types > 0 ? sum / types : 0;
  }
  return cost;
}

}  // namespace millwright::scheduling::bench
