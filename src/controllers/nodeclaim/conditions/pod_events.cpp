#include "controllers/nodeclaim/conditions/pod_events.hpp"

#include <algorithm>

namespace millwright::controllers {
namespace {

constexpr auto kPodEventPeriod = std::chrono::seconds(10);  // Karpenter's

}  // namespace

void PodEvents::note(const std::string& claim, base::TimePoint when) {
  const base::TimePoint stored = std::chrono::floor<std::chrono::seconds>(when);
  base::TimePoint& latest = unwritten_.try_emplace(claim, stored).first->second;
  latest = std::max(latest, stored);
}

void PodEvents::forget(std::string_view claim) {
  if (const auto found = unwritten_.find(claim); found != unwritten_.end()) {
    unwritten_.erase(found);
  }
}

PodEvents::Unwritten PodEvents::unwritten(const model::NodeClaim& claim, base::TimePoint now) {
  const auto noted = unwritten_.find(claim.meta.name);
  if (noted == unwritten_.end()) {
    return {};
  }
  const auto last = claim.last_pod_event_time;
  if (last && noted->second <= *last) {
    unwritten_.erase(noted);
    return {};
  }
  if (last && now - *last < kPodEventPeriod) {
    return {.when = noted->second, .due = false, .again = *last + kPodEventPeriod - now};
  }
  return {.when = noted->second, .due = true, .again = {}};
}

void PodEvents::written(const std::string& claim, std::optional<base::TimePoint> when) {
  const auto still = unwritten_.find(claim);
  if (still != unwritten_.end() && still->second == when) {
    unwritten_.erase(still);
  }
}

}  // namespace millwright::controllers
