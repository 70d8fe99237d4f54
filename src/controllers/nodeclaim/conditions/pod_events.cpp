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

PodEvents::Unwritten PodEvents::unwritten(const model::NodeClaim& claim,
                                          base::TimePoint now) const {
  const auto noted = unwritten_.find(claim.meta.name);
  if (noted == unwritten_.end()) {
    return {};
  }
  const auto last = claim.last_pod_event_time;
  if (last && now - *last < kPodEventPeriod) {
    return {.when = noted->second, .due = false, .again = *last + kPodEventPeriod - now};
  }
  return {.when = noted->second, .due = true, .again = {}};
}

void PodEvents::written(const std::string& claim, base::TimePoint when) {
  const auto still = unwritten_.find(claim);
  if (still != unwritten_.end() && still->second == when) {
    unwritten_.erase(still);
  }
}

}  // namespace millwright::controllers
