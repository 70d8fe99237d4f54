// What clouds say about instances, acted on: Karpenter's controllers interruption and
// interruption.instancestatus. Loop thread only.
#pragma once

#include "millwright/cloud/provider.hpp"
#include "millwright/controllers/services.hpp"

#include <memory>

namespace millwright::controllers {

// The NodeClaim that the notice is about; nullptr when it is none of ours or nothing is left to do.
std::shared_ptr<const model::NodeClaim> claim_to_act_on(const scheduling::Snapshot& snapshot,
                                                        const cloud::InstanceNotice& notice);

// Says so in an event, then deletes the NodeClaim if the instance goes. When it has failed, the
// claim first gets the annotation karpenter.sh/nodeclaim-termination-timestamp with this moment, if
// it has none: then nothing is waited for. Logs what fails; the cloud says it again.
base::Task<void> act_on_notice(Services& services, std::shared_ptr<const model::NodeClaim> claim,
                               cloud::InstanceNotice notice);

}  // namespace millwright::controllers
