#include "millwright/disruption/expiration.hpp"

#include "millwright/base/random.hpp"
#include "millwright/model/hashstructure.hpp"

#include <algorithm>

namespace millwright::disruption {
namespace {

// The claim's moment in the time that all of them have: the same whenever it is asked for.
base::Duration moment_of(const model::NodeClaim& claim, base::Duration time) {
  base::Random random(model::hashstructure::of_text(claim.meta.uid));
  return std::chrono::duration_cast<base::Duration>(random.unit() * time);
}

}  // namespace

base::TimePoint expiration_begin(const model::NodeClaim& claim, const Preferences& preferences,
                                 base::TimePoint expiry, base::TimePoint now) {
  if (!preferences.expiration_waits) {
    return expiry;
  }
  const auto latest = base::sum_of(expiry, kLongestExpirationWait).value_or(base::TimePoint::max());
  const auto open = preferences.expiration_windows.open_at_or_after(std::max(expiry, now));
  if (!open || open->begin >= latest) {
    return latest;
  }
  if (open->begin <= expiry) {
    return expiry;
  }
  return std::min(latest, open->begin + moment_of(claim, (open->end - open->begin) / 2));
}

}  // namespace millwright::disruption
