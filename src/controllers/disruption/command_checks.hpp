// What is asked again of a command while it is carried out, which may take minutes.
#pragma once

#include "millwright/controllers/services.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace millwright::controllers {

// The NodePool of each replacement. A claim with labels of the template that was planned with, and
// taints and the hash of a newer one, would be like neither and never drift: Conflict if there is
// one. NotFound if a pool is gone.
base::Result<std::vector<std::shared_ptr<const model::NodePool>>> unedited_pools(
    const scheduling::Snapshot& snapshot, const disruption::Command& command);

// Which of these nodes that are about to go somebody has come to protect, and how. A drain would
// wait for that pod, perhaps without end.
std::optional<std::string> protection_of(const std::vector<scheduling::NodeRecordPtr>& records,
                                         disruption::Reason reason, base::TimePoint now);

}  // namespace millwright::controllers
