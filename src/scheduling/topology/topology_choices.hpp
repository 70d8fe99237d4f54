// Which domains a pod may go to right now, as the groups that it is held to stand: "zone a, else
// zone b". Karpenter's TopologyGroup.Get for every group of the pod at once.
#pragma once

#include "scheduling/topology/applicant.hpp"
#include "scheduling/topology/narrowings.hpp"
#include "scheduling/topology/topology_counts.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace millwright::scheduling {

struct TopologyChoice {
  const Narrowing* chosen = nullptr;  // null: anywhere
  std::int64_t rank = 0;              // pods that are there already; fewer is better
};

class TopologyChoices {
 public:
  TopologyChoices(const Topology& topology, const TopologyCounts& counts, Narrowings& narrowings)
      : topology_(topology), counts_(counts), narrowings_(narrowings) {}

  // Pods that a spread constraint holds and does not count change no balance: whether their claims
  // stay open among all domains that it allows, or go to the emptiest.
  void leave_open(bool leave) { leave_open_ = leave; }
  // Until the next call no pod may go to these domains.
  void close(std::vector<Narrowing::Part> excluded) { closed_ = std::move(excluded); }
  // Domains that owners of anti-affinity keep the pod out of, or that are closed just now; null
  // when there are none.
  const Narrowing* closed(const Constraint& constraint);
  // In order of preference; empty when some group leaves it no domain. Valid until the next call.
  const std::vector<TopologyChoice>& find(const Applicant& applicant);
  // The pod must be beside pods of the group, none of which is anywhere yet, and is one itself.
  bool is_first(const Applicant& applicant, TopologyGroupId group) const;
  // Whether one domain is open to the pod under one key.
  bool allows(const Applicant& applicant, const Rung::Keyed& keyed, std::int32_t domain) const;

  // Whether the node is where the groups that the pod is held to want it to be; `hosts`: who is
  // there. Who keeps it away, and room, are for others to judge.
  bool suits(const Applicant& applicant, NodeId node, const HostTally& hosts) const;

  // Anti-affinity alone, which nodes without the label always meet.
  bool only_distance(const Rung::Keyed& keyed) const;
  // Any of the domains that the group allows is as good as another.
  bool is_indifferent(const Applicant& applicant, TopologyGroupId group) const;

 private:
  struct Option {
    std::int64_t rank = 0;
    std::int32_t domain = kNoDomain;  // kUnknownDomain: any of `sets_`
  };
  // False when there is none.
  bool find_options(const Applicant& applicant, std::size_t which);
  void combine(const Applicant& applicant);
  Narrowing::Part part_of(const Rung::Keyed& keyed, std::size_t which, const Option& option) const;

  const Topology& topology_;
  const TopologyCounts& counts_;
  Narrowings& narrowings_;
  std::vector<std::vector<Option>> options_;  // by position in Rung::keyed
  std::vector<DomainSet> sets_;
  std::vector<TopologyChoice> choices_;
  std::vector<Narrowing::Part> closed_;
  bool leave_open_ = false;
};

}  // namespace millwright::scheduling
