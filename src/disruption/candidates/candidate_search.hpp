// Which nodes of a snapshot are candidates, and what keeps the others.
#pragma once

#include "disruption/candidates/candidate.hpp"
#include "disruption/candidates/pool_index.hpp"
#include "disruption/findings.hpp"
#include "disruption/simulation/node_prices.hpp"

#include <set>
#include <string_view>
#include <vector>

namespace millwright::disruption {

struct CandidateSearch {
  const Input& input;
  const PoolIndex& pools;
  const PodObstacles& pod_obstacles;
  const NodePrices& prices;
  const std::vector<scheduling::Reservation>& reservations;
  // Fences of these claims do not count: the command that is being checked raised them.
  std::set<std::string_view> own_claims;

  std::shared_ptr<const PodFacts> facts_of(const scheduling::NodeRecordPtr& record) const {
    return input.memory ? input.memory->facts_of(record)
                        : std::make_shared<const PodFacts>(disruption::facts_of(*record));
  }
};

// Sorted by claim name. What keeps the other nodes is noted in `findings`.
std::vector<Candidate> find_candidates(const CandidateSearch& search, Findings& findings);

}  // namespace millwright::disruption
