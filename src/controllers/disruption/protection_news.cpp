#include "controllers/disruption/protection_news.hpp"

#include <algorithm>

namespace millwright::controllers {
namespace {

constexpr auto kProtectionTold = std::chrono::minutes(15);

}  // namespace

std::vector<const disruption::ProtectedPod*> ProtectionNews::due(
    const std::vector<disruption::ProtectedPod>& pods, base::TimePoint now) {
  std::erase_if(told_,
                [now](const auto& each) { return each.second.when + kProtectionTold <= now; });
  std::vector<const disruption::ProtectedPod*> result;
  for (const auto& each : pods) {
    const bool old = each.protection == disruption::Protection::Over && each.until &&
                     *each.until + kProtectionTold <= now;
    const auto told = told_.find(each.pod->meta.uid);
    const bool known = told != told_.end() && told->second.protection == each.protection;
    if (!old && !known && pace_.take(now)) {
      told_.insert_or_assign(each.pod->meta.uid, Told{each.protection, now});
      result.push_back(&each);
    }
  }
  return result;
}

}  // namespace millwright::controllers
