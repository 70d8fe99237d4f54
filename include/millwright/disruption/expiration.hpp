// When a node that has expired goes. Karpenter ends it at once; windows of its NodePool make it
// wait.
#pragma once

#include "millwright/disruption/preferences.hpp"
#include "millwright/model/karpenter.hpp"

#include <chrono>

namespace millwright::disruption {

// expireAfter is often a rule about security: whatever the windows, a node goes so long after it
// has expired. In this time every weekly window opens, also where clocks are put back meanwhile.
inline constexpr base::Duration kLongestExpirationWait = std::chrono::hours(24 * 8);

// When the claim, whose expireAfter is over at `expiry`, is to go as things stand at `now`. What
// expires in a window goes at once. What had to wait for one goes at a moment of its own in the
// first half of it: all of a week's expired nodes at once would be a storm.
base::TimePoint expiration_begin(const model::NodeClaim& claim, const Preferences& preferences,
                                 base::TimePoint expiry, base::TimePoint now);

}  // namespace millwright::disruption
