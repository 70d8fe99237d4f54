#include "bench/consolidate/pods_deleted.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <tuple>
#include <utility>

namespace millwright::disruption::bench {
namespace {

// The generator is the same everywhere; distributions and std::shuffle are not.
template <class T>
void shuffle(std::vector<T>& items, std::mt19937& random) {
  for (std::size_t i = items.size(); i > 1; --i) {
    std::swap(items[i - 1], items[random() % i]);
  }
}

// "app-7-3" is a pod of "app-7".
std::string set_of(const std::string& pod) {
  return pod.substr(0, pod.rfind('-'));
}

struct Replica {
  std::string node;
  std::string name;
};

std::map<std::string, std::vector<Replica>> replicas_by_set(const LiveCluster& cluster) {
  std::map<std::string, std::vector<Replica>> sets;
  for (auto& [node, name] : cluster.pods()) {
    sets[set_of(name)].push_back({node, name});
  }
  return sets;
}

// The controller of ReplicaSets deletes first those that share a node with most of their kind.
std::vector<std::string> of_one_set(std::vector<Replica> replicas, int per_cent) {
  std::map<std::string, int> on_node;
  for (const auto& each : replicas) {
    ++on_node[each.node];
  }
  std::stable_sort(replicas.begin(), replicas.end(),
                   [&](const auto& a, const auto& b) { return on_node[a.node] > on_node[b.node]; });
  replicas.resize(replicas.size() * static_cast<std::size_t>(per_cent) / 100);
  std::vector<std::string> names;
  for (auto& each : replicas) {
    names.push_back(std::move(each.name));
  }
  return names;
}

}  // namespace

std::string_view to_string(Deleted how) {
  switch (how) {
    case Deleted::AtRandom:
      return "random";
    case Deleted::ByReplicaSets:
      return "replicasets";
    case Deleted::Deployments:
      return "deployments";
  }
  return "";
}

std::vector<std::string> pods_to_delete(const LiveCluster& cluster, Deleted how, int per_cent,
                                        std::uint32_t seed) {
  std::mt19937 random(seed);
  const std::size_t wanted = cluster.pod_count() * static_cast<std::size_t>(per_cent) / 100;
  std::vector<std::string> names;
  if (how == Deleted::AtRandom) {
    for (auto& [node, name] : cluster.pods()) {
      names.push_back(std::move(name));
    }
    std::sort(names.begin(), names.end());
    shuffle(names, random);
    names.resize(wanted);
    return names;
  }
  auto sets = replicas_by_set(cluster);
  std::vector<std::string> order;
  for (const auto& item : sets) {
    order.push_back(item.first);
  }
  shuffle(order, random);
  for (const auto& set : order) {
    const bool whole = how == Deleted::Deployments;
    if (whole && names.size() >= wanted) {
      break;
    }
    auto some = of_one_set(std::move(sets[set]), whole ? 100 : per_cent);
    names.insert(names.end(), some.begin(), some.end());
  }
  return names;
}

}  // namespace millwright::disruption::bench
