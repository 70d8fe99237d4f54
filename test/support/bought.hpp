// What a virtual cluster of the kwok profile bought, and what it would have bought had all of its
// pods come at once.
#pragma once

#include "millwright/controllers/services.hpp"
#include "millwright/scheduling/solve.hpp"
#include "support/virtual_cluster.hpp"

#include <cstddef>
#include <memory>
#include <utility>

namespace millwright::test {

struct Bought {
  std::size_t claims = 0;
  double price = 0;  // of the instances, per hour

  // What a plan makes as low as it can: nodes count, too.
  double cost() const {
    return price + static_cast<double>(claims) * controllers::Options{}.node_overhead;
  }
  Bought& operator+=(const Bought& other) {
    claims += other.claims;
    price += other.price;
    return *this;
  }
};

inline scheduling::InstanceTypes types_on_sale(VirtualCluster& cluster) {
  const auto* cloud = cluster.cluster->cloud(cloud::Profile::Kwok);
  return cloud->instance_types(model::NodePool{}, model::NodeClass{}).value();
}

// Claims that are there, at the prices of their instances.
inline Bought bought_in(VirtualCluster& cluster) {
  const auto types = types_on_sale(cluster);
  Bought bought;
  for (const auto& [uid, claim] : cluster.cluster->world().recorder().claims()) {
    if (!claim.gone) {
      ++bought.claims;
      bought.price += scheduling::price_of(types, claim.last->meta.labels).value_or(0);
    }
  }
  return bought;
}

// The pods that are there, planned together for an empty cluster with the same NodePools.
inline Bought plan_of_all(VirtualCluster& cluster) {
  scheduling::Problem problem;
  const auto types = types_on_sale(cluster);
  for (const auto& pool : cluster.cluster->engine().state().snapshot()->node_pools) {
    problem.pools.push_back(
        {.pool = pool, .types = types, .node_overhead = controllers::Options{}.node_overhead});
  }
  for (const auto& [uid, record] : cluster.cluster->world().recorder().pods()) {
    if (!record.gone) {
      auto pod = std::make_shared<model::Pod>(*record.last);
      pod->spec.node_name.clear();
      pod->status = {};
      pod->status.phase = "Pending";
      problem.pods.push_back(std::move(pod));
    }
  }
  Bought bought;
  for (const auto& claim : scheduling::solve(problem).claims) {
    ++bought.claims;
    bought.price += claim.price;
  }
  return bought;
}

}  // namespace millwright::test
