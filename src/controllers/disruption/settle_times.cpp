#include "controllers/disruption/settle_times.hpp"

#include <algorithm>

namespace millwright::controllers {
namespace {

constexpr auto kBoughtAgainWithin = std::chrono::minutes(1);

}  // namespace

void SettleTimes::consolidated(const std::string& pool, base::TimePoint now) {
  const auto found = consolidated_.try_emplace(pool, Span{.first = now, .last = now}).first;
  found->second.last = now;
}

void SettleTimes::replaced_by(const std::string& claim, base::TimePoint now) {
  replacements_.insert_or_assign(claim, now);
}

void SettleTimes::look(const scheduling::Snapshot& snapshot, base::TimePoint now) {
  while (const auto pool = bought_again(snapshot)) {
    consolidated_.erase(*pool);
    const auto found = times_.find(*pool);
    change(*pool, 2 * (found == times_.end() ? least_ : found->second));
  }
  const auto is_past = [now](const auto& each) {
    return each.second.last + kBoughtAgainWithin <= now;
  };
  for (const auto& each : consolidated_) {
    if (const auto found = times_.find(each.first); is_past(each) && found != times_.end()) {
      change(each.first, found->second / 2);
    }
  }
  std::erase_if(consolidated_, is_past);
  // A replacement would count as bought again as long as something older may be.
  auto oldest = now - kBoughtAgainWithin;
  for (const auto& each : consolidated_) {
    oldest = std::min(oldest, each.second.first);
  }
  std::erase_if(replacements_, [oldest](const auto& each) { return each.second <= oldest; });
}

std::optional<std::string> SettleTimes::bought_again(const scheduling::Snapshot& snapshot) const {
  for (const auto& record : snapshot.nodes) {
    const auto last = consolidated_.find(record->node_pool());
    const bool is_new = record->claim && last != consolidated_.end() &&
                        record->claim->meta.creation_timestamp > last->second.first;
    if (is_new && !replacements_.contains(record->claim_name())) {
      return last->first;
    }
  }
  return std::nullopt;
}

void SettleTimes::change(const std::string& pool, base::Duration time) {
  if (time <= least_) {
    times_.erase(pool);
  } else {
    times_.insert_or_assign(pool, std::min(time, most_));
  }
}

}  // namespace millwright::controllers
