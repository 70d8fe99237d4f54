// Consolidation: fewer or cheaper nodes for the same pods (Karpenter's computeConsolidation).
#pragma once

#include "disruption/methods/prices/price_bounds.hpp"
#include "disruption/simulation/simulation.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace millwright::disruption {

struct Consolidation {
  std::optional<Command> command;
  std::optional<Why> problem;  // why there is none
  // One new node would do, or none: what Karpenter would accept. `command` may be a better one.
  bool with_one_node = false;
};

// Removes all candidates together, with as many new nodes as make the whole cheapest. What
// Karpenter would do, one new node at most, is always considered for up to kMostForSeveral of them;
// in place of more than `most_for_several`, nothing else is. Balanced pools' scores go into the
// survey.
Consolidation consolidate(Survey& survey, Candidates candidates,
                          std::size_t most_for_several = kMostForSeveral);
// The same as Karpenter does it: one pass of the planner, one new node at most.
Consolidation consolidate_with_one(Survey& survey, Candidates candidates);
// Saves more in an hour, less what the evictions cost.
bool is_better(const Command& command, const Command& than);

// The group of two or more candidates, first ones by savings ratio, whose going is worth most of
// those that were tried: those that Karpenter's search would try, and their neighbours.
std::optional<Command> consolidate_many(Survey& survey);
// The first single node that can go.
std::optional<Command> consolidate_one(Survey& survey);

// What Karpenter would do with nodes that have pods: multi-node consolidation (a binary search over
// prefixes of at most 100 candidates, sorted by what is saved per disruption; one new node at
// most), then single-node consolidation. By its published rules, timeouts left out, and by the
// annotations and options that it does not know. Notes nothing about nodes that stay.
// https://karpenter.sh/docs/concepts/disruption/#consolidation
std::optional<Command> consolidate_as_karpenter(Survey& survey);

// Shared wording: "Underutilized: replace node a (c9.4xlarge.4) by c9.2xlarge.4, saving $0.41/h".
std::string summarize(const Command& command, Candidates candidates);

}  // namespace millwright::disruption
