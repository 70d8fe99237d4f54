// The outward signs of a node chosen for disruption: the taint karpenter.sh/disrupted:NoSchedule,
// the claim's DisruptionReason condition, the mirror of the fence, and at last the deletion.
#pragma once

#include "controllers/nodeclaim/conditions/claim_conditions.hpp"

#include <cstdint>
#include <string>

namespace millwright::controllers {

// Of a NodeClaim with its Node. Any mark counts by itself: somebody may have taken the taint alone,
// and a static pool counts a node with the condition as replaced.
bool shows_marks(const scheduling::NodeRecord& record);
// Somebody deletes the NodeClaim or its Node, so that both end: marks, and the fence, go with them.
bool is_ending(const scheduling::NodeRecord& record);

base::Task<base::Result<>> mark_disrupted(Services& services, scheduling::NodeRecordPtr record,
                                          std::string reason);

// The state does not show a taint that was written, while its answer is lost and the watch is late.
enum class Taint : std::uint8_t { AsShown, MayBeHidden };
// One that may be hidden is asked for.
base::Task<base::Result<>> clear_disrupted(Services& services, scheduling::NodeRecordPtr record,
                                           Taint taint);
// Tried for some twelve seconds: its pods have their places elsewhere by now, and another decision
// would buy them others.
base::Task<base::Result<>> delete_disrupted(Services& services, scheduling::NodeRecordPtr record,
                                            std::string reason);

}  // namespace millwright::controllers
