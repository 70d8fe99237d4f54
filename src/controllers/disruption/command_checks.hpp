// What is asked again of a command while it is carried out, which may take minutes.
#pragma once

#include "millwright/controllers/services.hpp"

#include <memory>
#include <vector>

namespace millwright::controllers {

// The NodePool of each replacement. A claim with labels of the template that was planned with, and
// taints and the hash of a newer one, would be like neither and never drift: Conflict if there is
// one. NotFound if a pool is gone.
base::Result<std::vector<std::shared_ptr<const model::NodePool>>> unedited_pools(
    const scheduling::Snapshot& snapshot, const disruption::Command& command);

}  // namespace millwright::controllers
