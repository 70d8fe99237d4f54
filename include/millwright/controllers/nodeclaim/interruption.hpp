// Acts on what clouds say about instances (Karpenter's controllers interruption and
// interruption.instancestatus). Loop thread only.
#pragma once

#include "millwright/cloud/provider.hpp"
#include "millwright/controllers/services.hpp"

#include <memory>

namespace millwright::controllers {

// The NodeClaim that the notice is about; nullptr when it is none of ours or nothing is left to do.
std::shared_ptr<const model::NodeClaim> claim_to_act_on(const scheduling::Snapshot& snapshot,
                                                        const cloud::InstanceNotice& notice,
                                                        base::TimePoint now);

// Whether it may be about a NodeClaim whose instance is not recorded yet: a cloud can take back
// what it has just launched. Then the cloud has to repeat it.
bool may_be_of_a_launch(const scheduling::Snapshot& snapshot, const cloud::InstanceNotice& notice);

// Posts an event, then deletes the NodeClaim if the instance goes. If the instance has failed
// already, the claim first gets the annotation karpenter.sh/nodeclaim-termination-timestamp with
// the present time, unless one has passed, so that draining waits for nothing. Failures are logged
// and returned; the cloud then repeats its notice.
base::Task<base::Result<>> act_on_notice(Services& services,
                                         std::shared_ptr<const model::NodeClaim> claim,
                                         cloud::InstanceNotice notice);

}  // namespace millwright::controllers
