// Whether a node came as large as it was bought (Karpenter's nodeclaim.consistency, NodeShape).
#pragma once

#include "millwright/model/core.hpp"
#include "millwright/model/karpenter.hpp"

#include <string>

namespace millwright::controllers {

// Which requested resource the node has less than nine tenths of what its claim promised of; empty
// when none. Only for nodes that are initialised: until then resources are still being reported.
std::string inconsistency(const model::NodeClaim& claim, const model::Node& node);

}  // namespace millwright::controllers
