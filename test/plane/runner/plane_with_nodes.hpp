// A plane for figures: nodes that are there from the beginning, and as little as possible that
// competes for the machine with what is measured.
#pragma once

#include "plane/runner/plane.hpp"

namespace millwright::plane {

// So many nodes, each Ready, with 16 CPUs, 64 GiB and place for 110 pods, in three zones. No
// controller manager runs and kwok has ended: pods are bound and nothing else becomes of them.
base::Result<std::unique_ptr<Plane>> start_plane_with_nodes(int count);

std::string name_of_node(int number);

// A pod that fits on every node many times over.
json::value small_pod(const std::string& name);

}  // namespace millwright::plane
