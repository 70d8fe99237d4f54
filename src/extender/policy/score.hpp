// Scores the nodes that may take a pod.
#pragma once

#include "extender/policy/judge.hpp"
#include "extender/policy/node_index.hpp"

namespace millwright::extender {

inline constexpr int kMaxScore = 10;  // extender/v1 MaxExtenderPriority

// 0 to 9, for a node where nothing is reserved for the pod's group. `held` is reserved there for
// others. A fuller node scores more, so that others become empty and can be removed. A node that is
// being removed, may soon be, or expires soon scores little.
int packing_score(const IndexedNode& node, const PodFacts& pod, const model::ResourceList& held,
                  base::TimePoint now);

}  // namespace millwright::extender
