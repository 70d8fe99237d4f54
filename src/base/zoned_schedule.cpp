#include "millwright/base/zoned_schedule.hpp"

#include <algorithm>

namespace millwright::base {

// Within one period, what the clocks show is UTC and a constant, so the schedule is asked as if it
// were about UTC. What it answers beyond the period's end is asked again with the next one.
std::optional<TimePoint> ZonedSchedule::next(TimePoint time) const {
  auto period = zone_.period_at(time);
  const auto local = sum_of(time, period.offset);
  if (!local) {
    return std::nullopt;
  }
  TimePoint after = *local;
  TimePoint earliest = time;
  while (true) {
    const auto shown = schedule_.next(after);
    if (!shown) {
      return std::nullopt;
    }
    const TimePoint found = std::max(*shown - period.offset, earliest);
    if (!period.end || found < *period.end) {
      return found;
    }
    earliest = *period.end;
    const Duration before = period.offset;
    period = zone_.period_at(earliest);
    // Put forward, the clocks jump over times: the search begins with these. Put back, they show
    // times again: it begins with the first of these.
    after = earliest + std::min(before, period.offset) - Duration(1);
  }
}

}  // namespace millwright::base
