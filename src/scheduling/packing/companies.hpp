// Pods that want to be on the node of others like them, so that all of them must share one: the
// pods of a workload with a required pod affinity to itself by hostname. Whoever places the first
// where there is no room for the rest has refused the rest.
#pragma once

#include "scheduling/compile/pods/pod_classes.hpp"
#include "scheduling/topology/topology.hpp"
#include "scheduling/values/amounts.hpp"
#include "scheduling/values/ids.hpp"

#include <map>
#include <span>
#include <vector>

namespace millwright::scheduling {

class Companies {
 public:
  Companies(const PodClasses& pods, const Topology& topology);

  bool empty() const { return by_group_.empty(); }
  // What the company that meets in the group asks for; null where none meets.
  const Amounts* requests(TopologyGroupId group) const;
  // The same order, but each company follows its first pod.
  std::vector<PodId> behind_their_first(std::span<const PodId> order) const;

 private:
  struct Company {
    std::size_t pods = 0;
    Amounts requests;
  };
  // The group in which the pods meet; none() where they need not.
  TopologyGroupId group_of(PodId pod) const { return groups_[pods_.class_of(pod).constraint]; }

  const PodClasses& pods_;
  std::vector<TopologyGroupId> groups_;  // by constraint
  std::map<TopologyGroupId, Company> by_group_;
};

}  // namespace millwright::scheduling
