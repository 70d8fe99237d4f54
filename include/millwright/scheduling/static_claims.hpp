// NodeClaims of a static pool (NodePool spec.replicas): the bare template, with no pods in mind.
#pragma once

#include "millwright/scheduling/solve.hpp"

namespace millwright::scheduling {

// What the pool's template says and nothing more: the cloud chooses among all instance types that
// meet it. to_node_claim() makes the object.
PlannedClaim static_claim(const model::NodePool& pool);

}  // namespace millwright::scheduling
