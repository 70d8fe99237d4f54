// The last two steps of a Node or a NodeClaim: its instance ends, then the finalizer goes.
#pragma once

#include "controllers/nodeclaim/conditions/claim_conditions.hpp"

#include <boost/json.hpp>

namespace millwright::controllers {

// The cloud that serves the claim's NodeClass, never nullptr. Fails when this installation has
// none: then its instance cannot be ended.
base::Result<cloud::Provider*> provider_of(const Services& services, const model::NodeClaim& claim);

// Asks the cloud to end the claim's instance and notes on the claim that it does. True once the
// cloud has no such instance any more. Also without a providerID: the cloud finds by the claim's
// UID a launch whose outcome was never recorded.
base::Task<base::Result<bool>> end_instance(Services& services, ClaimPtr claim);

// A merge patch that takes the termination finalizer from exactly this version of the object: it
// fails with Conflict when somebody else wrote the object meanwhile, or made a new one of its name.
boost::json::value finalizer_removal(const model::ObjectMeta& meta);

}  // namespace millwright::controllers
