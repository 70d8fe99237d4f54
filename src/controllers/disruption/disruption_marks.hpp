// The outward signs of a node chosen for disruption: the taint karpenter.sh/disrupted:NoSchedule,
// the claim's DisruptionReason condition, the mirror of the fence, and at last the deletion.
#pragma once

#include "controllers/nodeclaim/conditions/claim_conditions.hpp"

namespace millwright::controllers {

// Somebody deletes the NodeClaim or its Node: marks, and the fence, go with it.
bool is_ending(const scheduling::NodeRecord& record);

base::Task<base::Result<>> mark_disrupted(Services& services, scheduling::NodeRecordPtr record,
                                          std::string reason);
base::Task<base::Result<>> clear_disrupted(Services& services, scheduling::NodeRecordPtr record);
// Tried for some twelve seconds: its pods have their places elsewhere by now, and another decision
// would buy them others.
base::Task<base::Result<>> delete_disrupted(Services& services, scheduling::NodeRecordPtr record,
                                            std::string reason);

}  // namespace millwright::controllers
