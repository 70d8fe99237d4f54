// Places pods that other pods matter to (spread, pod affinity and anti-affinity) or whose volumes
// leave them several ways.
//
// A pod is placed in one choice of domains at a time. Within a choice everything it was turned away
// by stays closed to it, as for any other pod: nodes get fuller, hosts get more pods, and what
// anti-affinity has closed it does not open again. That a domain is too full for a spread
// constraint or has no company yet may change, so choices are found anew for each pod.
#pragma once

#include "scheduling/packing/companies.hpp"
#include "scheduling/packing/placements.hpp"
#include "scheduling/topology/topology_choices.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace millwright::scheduling {

class TopologyPlacer {
 public:
  TopologyPlacer(const CompiledProblem& compiled, Placements& placements, TopologyCounts& counts,
                 TopologyChoices& choices)
      : pods_(compiled.pods),
        topology_(compiled.topology),
        placements_(placements),
        drafts_(placements.drafts()),
        counts_(counts),
        choices_(choices) {}

  // See Strategy; null: as the first pod likes.
  void keep_whole(const Companies* companies) { companies_ = companies; }

  // On rungs of one step, which are equally good. `seekers`: of its class, by rung.
  bool place(PodId pod, std::span<const Rung> rungs, std::vector<Seeker>& seekers);
  // Places a pod on the node that it was promised, if no rule about other pods forbids it.
  bool keep_promise(PodId pod, Applicant applicant, NodeId node);
  // Claims or limits have changed in the pods' favour.
  void forget_claims();

 private:
  // One rung with the domains that it may go to, the best first.
  struct Attempt {
    Applicant applicant;
    Seeker* plain = nullptr;  // of the rung, where no domain is chosen
    std::vector<TopologyChoice> choices;
    std::optional<TopologyGroupId> company;  // the group by hostname that it must join
    const Amounts* whole = nullptr;          // what its company asks for, of which it is the first
  };
  Attempt attempt_on(const Applicant& applicant, Seeker& plain);
  Seeker& seeker_of(const Attempt& attempt);
  // Calls seek(attempt, seeker) for each attempt in each of its choices, until that is true.
  template <class Seek>
  bool try_all(std::vector<Attempt>& attempts, Seek seek);
  bool seek_node(PodId pod, const Attempt& attempt, Seeker& seeker);
  bool seek_claim(PodId pod, const Attempt& attempt, Seeker& seeker);
  bool open_cheapest(PodId pod, std::vector<Attempt>& attempts);
  bool join_company(PodId pod, Attempt& attempt, TopologyGroupId company);

  const PodClasses& pods_;
  const Topology& topology_;
  Placements& placements_;
  ClaimDrafts& drafts_;
  TopologyCounts& counts_;
  TopologyChoices& choices_;
  const Companies* companies_ = nullptr;
  std::unordered_map<std::uint64_t, Seeker> seekers_;  // by class, rung and chosen domains
};

}  // namespace millwright::scheduling
