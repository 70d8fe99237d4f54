// Looks ahead: a consolidation is the first step of a course, and what it leaves decides what later
// ones can find. The step that saves most is often not the one whose course ends cheapest.
#pragma once

#include "disruption/survey.hpp"

#include <optional>
#include <vector>

namespace millwright::disruption {

// Of commands that may all be given now, the one to begin with; nullopt when there is none.
// `options`: the one whose going is worth most first.
//
// What follows each of them is played as Karpenter would go on, until nothing more is found; what
// Karpenter would begin with is one more option. The course that ends cheapest wins, its evictions
// counted, and it ends no dearer than Karpenter's own. Where it ends, our own search for a single
// node goes on: that takes several new nodes in its place, too. Since the next decision plays the
// same courses on, it is at least as good: if all goes as planned the end only gets cheaper. The
// steps of a good course are joined to one where a simulation of all its nodes proves that
// possible: a pod then moves once to where it would end.
//
// In large clusters that takes long. Once the decision has done most_work() in all, what has been
// played by then decides. If not even Karpenter's course has been, the first option is taken as it
// is, and in clusters of up to 2,000 nodes and pods Karpenter's own first step: the next decision
// has less of its course to play. Where the cluster alone is more than an eighth of kMostWork the
// first option is taken at once.
std::optional<Command> begin_best_course(Survey& survey, std::vector<Command> options);

// Pods and nodes that all simulations of one decision are given together.
inline constexpr std::size_t kMostWork = 300'000;
// Twice as much in clusters of up to 2,000 nodes and pods, where a unit takes less time.
std::size_t most_work(const scheduling::Snapshot& snapshot);

}  // namespace millwright::disruption
