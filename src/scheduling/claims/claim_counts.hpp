// Enters the pods of claims into the counts by group and domain, as they join.
//
// While the domain of a claim is open, its pods "float": they count nowhere until a domain is
// chosen, which happens before somebody is placed by that count.
#pragma once

#include "scheduling/claims/claim_domains.hpp"
#include "scheduling/topology/topology_counts.hpp"
#include "scheduling/values/ids.hpp"

#include <vector>

namespace millwright::scheduling {

class ClaimCounts {
 public:
  ClaimCounts(ById<ClaimId, ClaimDraft>& claims, ClaimBuilder& builder, ClaimDomains& domains,
              TopologyCounts& counts)
      : claims_(claims), builder_(builder), domains_(domains), counts_(counts) {}

  // A pod with the constraint has just joined the claim.
  void count(ClaimId claim, const Constraint& constraint);
  // Chooses a domain for each claim on which pods of the group float, if possible one that `wanted`
  // admits.
  void choose_domains(TopologyGroupId group, const Requirements& wanted);
  // Counts all pods of all claims, after the counts were reset.
  void recount();

 private:
  // Counts floating pods whose domain has been decided.
  void land_floating(ClaimId claim);
  void land_everywhere(ClaimId claim, TopologyGroupId group);
  bool choose_domain(ClaimId claim, TopologyGroupId group, const Requirements& wanted);

  ById<ClaimId, ClaimDraft>& claims_;
  ClaimBuilder& builder_;
  ClaimDomains& domains_;
  TopologyCounts& counts_;
};

}  // namespace millwright::scheduling
