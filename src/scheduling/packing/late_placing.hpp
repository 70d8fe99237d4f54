// The last step of a packing, for pods that a spread constraint keeps waiting.
//
// kube-scheduler compares a spread constraint with the domains that have nodes whose pods it
// counts; Karpenter with those that the pod itself may go to, whether they have nodes or not. While
// a plan is in the making both count here, and so does every other domain that a NodePool can
// provide, since another pod may yet need a node there. In the end it is known which domains have
// nodes. One that has none, and that the pod could not go to anyway, cannot be what keeps it
// waiting. Nothing that is placed here may give such a domain a node after all: not the pods
// themselves, nor others that are placed here and whose new node the constraint may count.
#pragma once

#include "scheduling/packing/packing.hpp"

namespace millwright::scheduling {

void place_among_nodes(const CompiledProblem& compiled, Packing& packing);

}  // namespace millwright::scheduling
