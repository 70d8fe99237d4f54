// What it costs, once, to evict a pod, in the currency of prices. A removal saves money per hour;
// the two are compared as if every removal had an hour to earn back what it costs.
#pragma once

#include "millwright/model/pod.hpp"
#include "millwright/model/resources.hpp"

#include <optional>

namespace millwright::disruption {

struct EvictionPrice {
  // A little for every pod, so that of two ways to save the same the one that moves fewer pods
  // wins. It never keeps a node: prices know nothing of how well a workload bears a move, and who
  // does says so with budgets.
  double trouble = 0;
  // The pod of a Job begins again from nothing: what its part of the node has cost since it began.
  // A node is not consolidated for less than that.
  double lost_work = 0;

  EvictionPrice& operator+=(const EvictionPrice& other);
  double sum() const { return trouble + lost_work; }
};

struct EvictionContext {
  double node_price = 0;  // per hour
  const model::ResourceList& allocatable;
  // That PodDisruptionBudgets leave for pods like this one; nullopt: none selects it.
  std::optional<int> evictions_left;
  base::TimePoint now;
};

// A pod that began so short a while ago may still be warming up, and may be there because of the
// last removal.
inline constexpr base::Duration kYoung = std::chrono::minutes(10);

bool is_of_job(const model::Pod& pod);
// Of a pod that is not young, which no budget selects.
double ordinary_trouble(const model::Pod& pod);
EvictionPrice eviction_price(const model::Pod& pod, const EvictionContext& context);

}  // namespace millwright::disruption
