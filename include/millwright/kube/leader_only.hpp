// A transport whose writes need the term of leadership to hold. Everything that the leader alone
// may write goes through one of these, so that no controller has to ask whether it still leads.
#pragma once

#include "millwright/base/leadership.hpp"
#include "millwright/kube/transport.hpp"

#include <memory>

namespace millwright::kube {

// Reads and watches pass as they are. A write is refused with Denied once the term may be over:
// that is looked at when the request is sent, after whatever it waited for, and again for each
// repetition. One that is under way when the term ends is given up with Timeout, its effect
// unknown. `leadership` outlives the result. Loop thread only.
std::shared_ptr<Transport> leader_only(std::shared_ptr<Transport> transport,
                                       const base::Leadership& leadership);

}  // namespace millwright::kube
