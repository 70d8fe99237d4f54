#include "controllers/disruption/blocked_news.hpp"

#include <algorithm>

namespace millwright::controllers {
namespace {

constexpr auto kSayAgain = std::chrono::minutes(15);

}  // namespace

std::vector<const disruption::Blocked*> BlockedNews::due(
    const std::vector<disruption::Blocked>& blocked, base::TimePoint now) {
  forget_before(now - kSayAgain);
  std::vector<const disruption::Blocked*> result;
  const auto next = std::upper_bound(
      blocked.begin(), blocked.end(), last_,
      [](const std::string& last, const disruption::Blocked& each) { return last < each.claim; });
  const auto look_at = [&](const disruption::Blocked& each) {
    if (each.kept != disruption::Kept::AsWanted && !is_told(each) && pace_.take(now)) {
      told_[each.claim].push_back({each.kept, each.why.cause, now});
      last_ = each.claim;
      result.push_back(&each);
    }
  };
  std::for_each(next, blocked.end(), look_at);
  std::for_each(blocked.begin(), next, look_at);
  return result;
}

void BlockedNews::forget_before(base::TimePoint time) {
  for (auto& [claim, all] : told_) {
    std::erase_if(all, [time](const Told& each) { return each.when <= time; });
  }
  std::erase_if(told_, [](const auto& item) { return item.second.empty(); });
}

bool BlockedNews::is_told(const disruption::Blocked& blocked) const {
  const auto found = told_.find(blocked.claim);
  return found != told_.end() &&
         std::any_of(found->second.begin(), found->second.end(), [&](const Told& each) {
           return each.kept == blocked.kept && each.cause == blocked.why.cause;
         });
}

}  // namespace millwright::controllers
