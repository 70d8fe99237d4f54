// Expiration: a claim that has lived as long as spec.expireAfter allows is deleted (Karpenter's
// nodeclaim.expiration). Budgets do not delay it; windows of its NodePool may
// (millwright/disruption/expiration.hpp).
#pragma once

#include "millwright/controllers/services.hpp"

#include <optional>

namespace millwright::controllers {

// When the claim expires; nullopt: never.
std::optional<base::TimePoint> expiry_of(const model::NodeClaim& claim);
// When one that expires at `expiry` is to go, by its NodePool as it is now.
base::TimePoint expiration_begin(const Services& services, const model::NodeClaim& claim,
                                 base::TimePoint expiry);
// An event on the claim and its node: it has expired and goes at `begin`.
void tell_expiration_waits(Services& services, const scheduling::NodeRecord& record,
                           base::TimePoint begin);

// Whether the expired node holds nothing but the room of a CapacityBuffer that has no room on
// another node yet. Nobody would wait for that room as a pod does, so the node does, for ten
// minutes after `begin` at most. The caller marks it for deletion, so that the next plan finds the
// other node.
bool awaits_buffer_room(const Services& services, const scheduling::NodeRecord& record,
                        base::TimePoint begin);

}  // namespace millwright::controllers
