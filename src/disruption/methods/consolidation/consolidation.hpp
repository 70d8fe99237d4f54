// Consolidation: fewer or cheaper nodes for the same pods (Karpenter's computeConsolidation).
#pragma once

#include "disruption/methods/prices/price_bounds.hpp"
#include "disruption/simulation/simulation.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

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
// With as many new nodes as it takes. Pods go where `wanted` has them, as far as nodes that exist
// are concerned.
Consolidation consolidate_as_wanted(Survey& survey, Candidates candidates,
                                    std::span<const scheduling::Placement> wanted);
// Saves more in an hour, less what the evictions cost.
bool is_better(const Command& command, const Command& than);

// Groups of two or more candidates that may go: those that Karpenter's search would try, their
// neighbours, and what is found in other ways. The one whose going is worth most first.
std::vector<Command> consolidate_many(Survey& survey);
// The first single node that can go.
std::optional<Command> consolidate_one(Survey& survey);

// What Karpenter would do with nodes that have pods: multi-node consolidation (a binary search over
// prefixes of at most 100 candidates, sorted by what is saved per disruption; one new node at
// most), then single-node consolidation. By its published rules, timeouts left out, and by the
// annotations and options that it does not know. Notes nothing about nodes that stay. nullopt, too,
// once the survey's work is enough.
// https://karpenter.sh/docs/concepts/disruption/#consolidation
std::optional<Command> consolidate_as_karpenter(Survey& survey);

// Shared wording: "Underutilized: replace node a (c9.4xlarge.4) by c9.2xlarge.4, saving $0.41/h".
std::string summarize(const Command& command, Candidates candidates);

}  // namespace millwright::disruption
