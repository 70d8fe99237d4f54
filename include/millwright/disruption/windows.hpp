// Windows: times at which nodes may go, as annotations of NodePools say them. A window opens when
// the clocks of a time zone show what a cron schedule names, and is open for a duration.
#pragma once

#include "millwright/base/zoned_schedule.hpp"
#include "millwright/disruption/decide.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace millwright::disruption {

// From `begin` on, until before `end`.
struct OpenTime {
  base::TimePoint begin;
  base::TimePoint end;
};

class Windows {
 public:
  // "0 22 * * mon-fri for 8h in Europe/Berlin", and more of them after ";" or on lines of their
  // own. Without "in ..." the clocks are UTC's. "Drifted, Empty: 0 22 ..." is a window for these
  // reasons only. Invalid quotes the window that is wrong and says what would be right.
  static base::Result<Windows> parse(std::string_view text);

  bool empty() const { return windows_.empty(); }
  // Whether any window is for some reasons only.
  bool name_reasons() const;
  // Whether the reason has to wait for a window. One that no window is for does not.
  bool concern(Reason reason) const;

  // The time around `at` at which a window is open, else the next one; with a reason, only windows
  // for it count. Of windows that overlap, the one that opened first. nullopt: none within five
  // years.
  std::optional<OpenTime> open_at_or_after(base::TimePoint at,
                                           std::optional<Reason> reason = std::nullopt) const;

 private:
  struct Window {
    base::ZonedSchedule opens;
    base::Duration duration;
    std::vector<Reason> reasons;  // empty: all
    bool is_for(Reason reason) const;
  };
  static base::Result<Window> parse_window(std::string_view text);

  std::vector<Window> windows_;
};

}  // namespace millwright::disruption
