#include "controllers/disruption/failed_claims.hpp"

#include <algorithm>
#include <utility>

namespace millwright::controllers {
namespace {

constexpr base::Duration kShortestPause = std::chrono::minutes(1);
constexpr base::Duration kLongestPause = std::chrono::minutes(10);

}  // namespace

void FailedClaims::add(const std::string& claim, std::string error, base::TimePoint now) {
  forget_old(now);
  const auto [pause, is_new] = pauses_.try_emplace(claim, kShortestPause);
  if (!is_new) {
    pause->second = std::min(pause->second * 2, kLongestPause);
  }
  failed_.insert_or_assign(
      claim, disruption::Failed{.until = now + pause->second, .error = std::move(error)});
}

// What was tried again and did not fail for so long has succeeded, or nobody wants it any more.
void FailedClaims::forget_old(base::TimePoint now) {
  std::erase_if(failed_,
                [now](const auto& each) { return each.second.until + kLongestPause <= now; });
  std::erase_if(pauses_, [this](const auto& each) { return !failed_.contains(each.first); });
}

}  // namespace millwright::controllers
