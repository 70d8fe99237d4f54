// Expiration: a claim that has lived as long as spec.expireAfter allows is deleted (Karpenter's
// nodeclaim.expiration). Budgets do not delay it.
#pragma once

#include "millwright/controllers/services.hpp"

#include <optional>

namespace millwright::controllers {

// When the claim expires; nullopt: never.
std::optional<base::TimePoint> expiry_of(const model::NodeClaim& claim);

}  // namespace millwright::controllers
