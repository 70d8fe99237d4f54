// A cron schedule on the clocks of a time zone.
#pragma once

#include "millwright/base/cron.hpp"
#include "millwright/base/time_zone.hpp"

#include <optional>
#include <utility>

namespace millwright::base {

// A time of the schedule that the clocks leave out, because they are put forward, comes when that
// is done; one that they show twice, because they are put back, comes twice. So nothing that is to
// happen daily fails to, and "every hour" comes every hour.
class ZonedSchedule {
 public:
  ZonedSchedule(CronSchedule schedule, TimeZone zone)
      : schedule_(std::move(schedule)), zone_(std::move(zone)) {}

  // The first time strictly after `time`; nullopt when there is none within five years.
  std::optional<TimePoint> next(TimePoint time) const;

 private:
  CronSchedule schedule_;
  TimeZone zone_;
};

}  // namespace millwright::base
