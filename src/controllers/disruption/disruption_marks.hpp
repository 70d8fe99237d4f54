// The outward signs of a node chosen for disruption: the taint karpenter.sh/disrupted:NoSchedule,
// the claim's DisruptionReason condition, and the mirror of the fence.
#pragma once

#include "controllers/nodeclaim/conditions/claim_conditions.hpp"

namespace millwright::controllers {

base::Task<base::Result<>> mark_disrupted(Services& services, scheduling::NodeRecordPtr record,
                                          std::string reason);
base::Task<base::Result<>> clear_disrupted(Services& services, scheduling::NodeRecordPtr record);

}  // namespace millwright::controllers
