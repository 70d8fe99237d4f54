// A provider whose changes need the term of leadership to hold. Controllers get no other.
#pragma once

#include "millwright/base/leadership.hpp"
#include "millwright/cloud/provider.hpp"

#include <memory>

namespace millwright::cloud {

// create(), remove(), remove_leaked(), resolve() (it may make what a NodeClass needs) and release()
// are refused with Unavailable once the term may be over. lead() is stopped then, and a launch
// makes no further call that buys: the clock is asked before each attempt (Provider::set_may_buy).
// Everything else passes as it is. What was asked of the cloud before goes on: what it launched
// belongs to its claim whoever asks, and an instance that was to end ends. `leadership` outlives
// the result.
std::unique_ptr<Provider> leader_only(std::unique_ptr<Provider> provider,
                                      const base::Leadership& leadership);

}  // namespace millwright::cloud
