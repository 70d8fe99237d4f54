// What somebody has said to keep a node, whatever there is to save: karpenter.sh/do-not-disrupt on
// the Node or on a pod. Asked when nodes are chosen, and again before each of them is deleted.
#pragma once

#include "millwright/disruption/decide.hpp"

#include <optional>

namespace millwright::disruption {

// By the Node's own annotation.
std::optional<Obstacle> node_protection(const scheduling::NodeRecord& record);
// Drift ends a node whose claim has a terminationGracePeriod, whatever its pods say.
bool overrides_pods(const scheduling::NodeRecord& record, Reason reason);
// By the Node's annotation, or by a pod's unless the reason overrides pods.
std::optional<Obstacle> protection(const scheduling::NodeRecord& record, Reason reason,
                                   base::TimePoint now);

}  // namespace millwright::disruption
