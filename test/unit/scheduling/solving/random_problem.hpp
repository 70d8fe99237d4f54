// Random problems for properties: small, but with every feature that can get in another's way.
#pragma once

#include "unit/scheduling/builders.hpp"

#include <rapidcheck.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace millwright::scheduling::testing {

inline const std::string kZoneText(model::kZoneLabel);
inline const std::string kArch(model::kArchLabel);

inline int pick(int below) {
  return *rc::gen::inRange(0, below);
}
inline bool once_in(int n) {
  return pick(n) == 0;
}
inline std::string zone_name(int i) {
  return "zone-" + std::to_string(i);
}

inline InstanceTypes random_types() {
  std::vector<InstanceType> list;
  const int count = 1 + pick(6);
  for (int i = 0; i < count; ++i) {
    const int cpu = 1 << pick(5);
    TypeBuilder item = type("t" + std::to_string(i));
    item.cpu(std::to_string(cpu))
        .memory(std::to_string(cpu * (1 + pick(4))) + "Gi")
        .max_pods(std::to_string(3 + pick(12)))
        .arch(once_in(4) ? "arm64" : "amd64")
        .sold(std::vector<std::pair<std::string, std::string>>{});
    if (once_in(4)) {
      item.has("example.com/gpu", std::to_string(1 + pick(3)));
    }
    const int offerings = 1 + pick(4);
    std::set<std::pair<int, bool>> made;
    for (int o = 0; o < offerings; ++o) {
      const std::pair<int, bool> what{pick(3), once_in(2)};
      if (made.insert(what).second) {
        Offering sold = offering(zone_name(what.first), what.second ? "spot" : "on-demand",
                                 cpu * (10 + pick(10)) / 100.0);
        sold.available = !once_in(6);
        item.sold(std::move(sold));
      }
    }
    list.push_back(item);
  }
  return types(std::move(list));
}

inline PoolBuilder random_pool(int index) {
  PoolBuilder result = pool("pool-" + std::to_string(index));
  result.weight(pick(3));
  if (once_in(3)) {
    result.label("team", once_in(2) ? "a" : "b");
  } else if (once_in(3)) {
    result.requires_(need("team", Operator::In, {"a", "b"}));
  }
  if (once_in(3)) {
    result.requires_(need(kZoneText, once_in(2) ? Operator::In : Operator::NotIn,
                          {zone_name(pick(3)), zone_name(pick(3))}));
  }
  if (once_in(4)) {
    result.taint("dedicated", "x", once_in(2) ? "NoSchedule" : "PreferNoSchedule");
  }
  if (once_in(3)) {
    result.limit("cpu", std::to_string(pick(40)));
  }
  if (once_in(5)) {
    result.limit("nodes", std::to_string(pick(4)));
  }
  return result;
}

inline model::SelectorRequirement random_requirement() {
  switch (pick(4)) {
    case 0:
      return need(kZoneText, once_in(3) ? Operator::NotIn : Operator::In,
                  {zone_name(pick(3)), zone_name(pick(4))});
    case 1:
      return need(kArch, Operator::In, {once_in(3) ? "arm64" : "amd64"});
    case 2: {
      const auto op = static_cast<Operator>(pick(4));
      const bool valued = op == Operator::In || op == Operator::NotIn;
      return valued ? need("team", op, {once_in(2) ? "a" : "b"}) : need("team", op);
    }
    default:
      return need(model::kCapacityTypeLabel, Operator::In, {once_in(2) ? "spot" : "on-demand"});
  }
}

inline PodBuilder random_pod(const std::string& name) {
  PodBuilder result = pod(name);
  result.cpu(std::to_string(100 * (1 + pick(40))) + "m");
  result.memory(std::to_string(128 * (1 + pick(40))) + "Mi");
  if (once_in(8)) {
    result.requests("example.com/gpu", std::to_string(1 + pick(2)));
  }
  if (once_in(5)) {
    result.selects(kZoneText, zone_name(pick(3)));
  }
  const int terms = once_in(3) ? 1 + pick(2) : 0;
  for (int i = 0; i < terms; ++i) {
    result.requires_term({random_requirement()});
  }
  if (once_in(4)) {
    result.prefers(1 + pick(5), {random_requirement()});
  }
  if (once_in(3)) {
    result.tolerates("dedicated", "x", "NoSchedule");
  }
  if (once_in(6)) {
    result.host_port(80 + pick(2));
  }
  return result;
}

inline NodeBuilder random_node(int index) {
  const std::string name = "node-" + std::to_string(index);
  NodeBuilder result = node(name);
  result.label(model::kNodePoolLabel, "pool-" + std::to_string(pick(2)))
      .label(kZoneText, zone_name(pick(3)))
      .label(kArch, once_in(3) ? "arm64" : "amd64")
      .allocatable("cpu", std::to_string(2 + pick(8)))
      .allocatable("memory", std::to_string(4 + pick(16)) + "Gi")
      .allocatable("pods", std::to_string(2 + pick(8)));
  if (once_in(3)) {
    result.label("team", once_in(2) ? "a" : "b");
  }
  if (once_in(4)) {
    result.taint("dedicated", "x", "NoSchedule");
  }
  if (once_in(4)) {
    result.uninitialized();
  }
  if (once_in(2)) {
    result.runs(pod("bound-" + name).cpu("500m").memory("256Mi").host_port(once_in(2) ? 80 : 0));
  }
  return result;
}

inline Problem random_problem() {
  Problem problem;
  const InstanceTypes types = random_types();
  const int pools = 1 + pick(3);
  for (int i = 0; i < pools; ++i) {
    problem.pools.push_back({random_pool(i), types});
  }
  const int nodes = pick(4);
  for (int i = 0; i < nodes; ++i) {
    const NodeRecordPtr record = random_node(i);
    problem.nodes.push_back(record);
    problem.counted_nodes.push_back(record);
  }
  const int pods = pick(25);
  for (int i = 0; i < pods; ++i) {
    // A few of each kind, as replicas are.
    const PodBuilder like = random_pod("like");
    const int replicas = 1 + pick(4);
    for (const auto& replica : testing::pods(replicas, "pod-" + std::to_string(i), like)) {
      problem.pods.push_back(replica);
    }
  }
  if (once_in(2)) {
    problem.daemon_sets.push_back(daemon_set("daemon", pod("d").cpu("200m").memory("64Mi")));
  }
  if (once_in(3)) {
    problem.daemon_sets.push_back(daemon_set(
        "arm-daemon", pod("d").cpu("300m").tolerates_everything().selects(kArch, "arm64")));
  }
  if (once_in(4) && !problem.pods.empty() && !problem.nodes.empty()) {
    problem.kept.push_back({.target = problem.nodes.front()->name(),
                            .pod_uid = problem.pods.front()->meta.uid,
                            .requests = resources({{"cpu", "1"}})});
    problem.kept.push_back({.target = problem.nodes.back()->name(),
                            .pod_uid = {},
                            .requests = resources({{"cpu", "1"}, {"pods", "2"}})});
  }
  problem.options.preferences = once_in(2) ? PreferencePolicy::Respect : PreferencePolicy::Ignore;
  return problem;
}

}  // namespace millwright::scheduling::testing
