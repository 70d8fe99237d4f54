// Pods per group and domain while packing. One addition per pod placed and group that selects it;
// a packing never takes one back, Relocation does.
#pragma once

#include "scheduling/topology/topology.hpp"
#include "scheduling/values/ids.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <variant>
#include <vector>

namespace millwright::scheduling {

// A node or a claim in the making.
using HostRef = std::variant<NodeId, ClaimId>;

class TopologyCounts {
 public:
  explicit TopologyCounts(const Topology& topology);
  // Back to where the census was.
  void reset();

  const Topology& topology() const { return topology_; }
  std::int32_t selected(TopologyGroupId group, std::int32_t domain) const {
    return states_[group].selected[static_cast<std::size_t>(domain)];
  }
  std::int64_t total(TopologyGroupId group) const { return states_[group].total; }
  // `sure`: the group's node filter counts the node whatever becomes of it. A pod that may or may
  // not count is taken to, except where the least count is asked for.
  void add_selected(TopologyGroupId group, std::int32_t domain, bool sure);
  void add_owner(TopologyGroupId group, std::int32_t domain);
  // On a node or claim; the first one there makes it known to those who want its company.
  void add_on_host(TopologyGroupId group, HostRef host, bool first);
  // What was added with the same arguments is there no more.
  void remove_selected(TopologyGroupId group, std::int32_t domain, bool sure);
  void remove_owner(TopologyGroupId group, std::int32_t domain);
  void remove_from_host(TopologyGroupId group);
  // Selected, but in which domain is not decided. Not part of the total before it is.
  void add_floating(TopologyGroupId group, ClaimId claim);
  // Selected pods whose domain cannot be known. They count towards the total alone.
  void add_somewhere(TopologyGroupId group, std::int64_t pods) { states_[group].total += pods; }
  // Claims with floating pods; to be put back if they stay so.
  std::vector<ClaimId> take_floating(TopologyGroupId group);
  void put_back_floating(TopologyGroupId group, ClaimId claim);
  // Hosts with pods of an affinity group by hostname, in the order they got them. Those that lost
  // their last stay in the list.
  const std::vector<HostRef>& hosts(TopologyGroupId group) const { return states_[group].hosts; }

  // From now on these spread constraints compare with these domains alone; others with all.
  void compare_only_with(std::map<TopologyGroupId, DomainSet> domains);
  // The least count that a spread constraint compares with; 0 with too few domains.
  std::int32_t least(TopologyGroupId group) const;
  // Whether one more pod may go to the domain, as far as the group that it is held to is
  // concerned. `self`: the group selects the pod. `first`: nobody to be beside is there yet.
  bool allows(TopologyGroupId group, std::int32_t domain, bool self, bool first) const;
  // Domains in which owners of one of these groups keep the pod out.
  bool closed(std::span<const TopologyGroupId> repelling, KeyId key, DomainSet& out) const;
  // The same for one domain.
  bool is_closed(TopologyGroupId group, std::int32_t domain) const {
    return states_[group].owners[static_cast<std::size_t>(domain)] > 0;
  }
  bool has_owners(TopologyGroupId group) const { return states_[group].owned; }
  // Grows with every change.
  std::uint64_t version() const { return version_; }

 private:
  struct State {
    std::vector<std::int32_t> selected;
    std::vector<std::int32_t> sure;  // those of them that are sure to count
    std::vector<std::int32_t> owners;
    std::int64_t total = 0;
    bool owned = false;  // some domain has an owner
    std::vector<ClaimId> floating;
    std::vector<HostRef> hosts;
    mutable std::int32_t least = -1;  // negative: to be worked out
  };
  const Topology& topology_;
  ById<TopologyGroupId, State> states_;
  std::map<TopologyGroupId, DomainSet> compared_;
  std::uint64_t version_ = 0;
};

// Whether a pod may share a node with the pods there, as far as groups by hostname are concerned.
// Company that it wants is looked for elsewhere.
bool admits_host(const HostTally& tally, const Constraint& constraint, const Rung& rung,
                 const TopologyCounts& counts);

}  // namespace millwright::scheduling
