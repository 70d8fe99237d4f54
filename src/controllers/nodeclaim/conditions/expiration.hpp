// Expiration: a claim that has lived as long as spec.expireAfter allows is deleted (Karpenter's
// nodeclaim.expiration). Budgets do not delay it.
#pragma once

#include "millwright/controllers/services.hpp"

#include <optional>

namespace millwright::controllers {

// When the claim expires; nullopt: never.
std::optional<base::TimePoint> expiry_of(const model::NodeClaim& claim);

// Whether the expired node holds nothing but the room of a CapacityBuffer that has no room on
// another node yet. Nobody would wait for that room as a pod does, so the node does, for ten
// minutes at most. The caller marks it for deletion, so that the next plan finds the other node.
bool awaits_buffer_room(const Services& services, const scheduling::NodeRecord& record,
                        base::TimePoint expiry);

}  // namespace millwright::controllers
