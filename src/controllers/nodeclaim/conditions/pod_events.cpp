#include "controllers/nodeclaim/conditions/pod_events.hpp"

namespace millwright::controllers {
namespace {

constexpr auto kPodEventPeriod = std::chrono::seconds(10);  // Karpenter's

}  // namespace

void PodEvents::forget(std::string_view claim) {
  if (const auto found = unwritten_.find(claim); found != unwritten_.end()) {
    unwritten_.erase(found);
  }
}

base::Task<base::Result<PodEvents::Written>> PodEvents::write(Services& services, ClaimPtr claim) {
  Written result{.claim = claim, .again = {}};
  const auto noted = unwritten_.find(claim->meta.name);
  if (noted == unwritten_.end()) {
    co_return result;
  }
  const base::TimePoint now = services.loop.now();
  const auto last = claim->last_pod_event_time;
  if (last && now - *last < kPodEventPeriod) {
    result.again = *last + kPodEventPeriod - now;
    co_return result;
  }
  const base::TimePoint when = noted->second;
  boost::json::object status{{"lastPodEventTime", base::format_rfc3339(when)}};
  MW_CO_TRY(updated,
            co_await patch_claim(services, claim, ClaimPatch::of_status(std::move(status))));
  result.claim = updated;
  // A later event may have come while this one was written.
  if (const auto still = unwritten_.find(claim->meta.name);
      still != unwritten_.end() && still->second == when) {
    unwritten_.erase(still);
  }
  co_return result;
}

}  // namespace millwright::controllers
