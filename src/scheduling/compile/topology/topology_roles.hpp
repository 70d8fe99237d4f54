// What each pod to be placed is to topology groups: the groups it is held to, those that count it,
// and those whose owners keep it away.
#pragma once

#include "scheduling/compile/pods/pod_classes.hpp"
#include "scheduling/compile/topology/topology_groups.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace millwright::scheduling {

struct TopologyRole {
  PodTopology held;
  std::vector<TopologyGroupId> counted;
  std::vector<TopologyGroupId> repelling;
};

class TopologyRoles {
 public:
  explicit TopologyRoles(const Problem& problem);

  // `specs`: by pod, equal for pods that say the same about nodes and other pods.
  void assign(std::span<const model::Pod* const> pods, std::span<const std::uint32_t> specs);
  // Equal for pods that are the same to every group; 0 for all when there is no topology.
  std::uint32_t role_of(std::size_t pod) const { return roles_.empty() ? 0 : roles_[pod]; }
  const TopologyRole& role(std::size_t pod) const { return distinct_[role_of(pod)]; }
  // Null when there is no topology.
  const std::shared_ptr<TopologyGroups>& groups() const { return groups_; }

 private:
  TopologyRole make(const model::Pod& pod, const PodTopology& held);

  std::shared_ptr<TopologyGroups> groups_;
  std::vector<std::uint32_t> roles_;    // by pod
  std::vector<TopologyRole> distinct_;  // not empty
};

// Fills in what rungs and the constraint itself keep by key.
void sort_groups_by_key(Constraint& constraint, const ById<TopologyGroupId, TopologyGroup>& groups);

}  // namespace millwright::scheduling
