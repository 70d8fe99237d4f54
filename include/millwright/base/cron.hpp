// Cron schedules as Karpenter's disruption budgets use them: five fields or @macros, always UTC,
// with the semantics of github.com/robfig/cron/v3's standard parser (when both day fields are
// restricted, either may match; names, ranges, lists and steps are accepted).
#pragma once

#include "millwright/base/result.hpp"
#include "millwright/base/time.hpp"

#include <bitset>
#include <optional>
#include <string_view>

namespace millwright::base {

class CronSchedule {
 public:
  // Invalid names the field and what would be accepted.
  static Result<CronSchedule> parse(std::string_view text);

  // The first activation strictly after `time`; nullopt when none comes within five years
  // (for example 30 February).
  std::optional<TimePoint> next(TimePoint time) const;
  // The last activation after `from` and no later than `to`; nullopt when there is none.
  std::optional<TimePoint> last(TimePoint from, TimePoint to) const;

 private:
  std::bitset<60> minutes_;
  std::bitset<24> hours_;
  std::bitset<32> days_of_month_;  // 1..31
  std::bitset<13> months_;         // 1..12
  std::bitset<7> days_of_week_;    // 0 is Sunday
  bool any_day_of_month_ = false;
  bool any_day_of_week_ = false;
};

}  // namespace millwright::base
