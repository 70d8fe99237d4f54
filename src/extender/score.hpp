// Where a pod does the most good among the nodes that may take it.
#pragma once

#include "extender/judge.hpp"
#include "extender/node_index.hpp"

namespace millwright::extender {

inline constexpr int kMaxScore = 10;  // extender/v1 MaxExtenderPriority

// Of a node that holds no room for the pod: 0 to 9. Fuller is better, so that other nodes empty and
// can go; nodes that are going, may go, or have little life left attract nothing.
int packing_score(const IndexedNode& node, const PodFacts& pod, const model::ResourceList& held,
                  base::TimePoint now);

}  // namespace millwright::extender
