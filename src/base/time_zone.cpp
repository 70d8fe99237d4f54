// g++ 12 has no time zones in <chrono>. cctz reads the database's files without exceptions, and
// knows the rule for all years to come that a file may end with instead of a table of them.
#include "millwright/base/time_zone.hpp"

#include <cctz/time_zone.h>

#include <algorithm>
#include <string>
#include <utility>

namespace millwright::base {
namespace {

constexpr std::size_t kLongestZoneName = 64;

// As the database writes names. A name becomes a path, so anything else stays away from the file
// system: "/dev/zero", "../../etc/x". What begins in lower case there is no zone: "localtime" is
// the machine's own, and zones under "right/" count leap seconds.
bool is_zone_name(std::string_view name) {
  const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  const auto is_allowed = [&](char c) {
    return is_upper(c) || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '/' ||
           c == '_' || c == '+' || c == '-';
  };
  return !name.empty() && name.size() <= kLongestZoneName && is_upper(name.front()) &&
         std::all_of(name.begin(), name.end(), is_allowed);
}

}  // namespace

struct TimeZone::Zone {
  cctz::time_zone zone;
};

Result<TimeZone> TimeZone::find(std::string_view name) {
  auto found = std::make_shared<Zone>();
  if (!is_zone_name(name) || !cctz::load_time_zone(std::string(name), &found->zone)) {
    return fail(ErrorKind::Invalid,
                "\"" + std::string(name) +
                    "\" is no time zone of the IANA database; write for example Europe/Berlin, "
                    "Asia/Shanghai or UTC");
  }
  return TimeZone(std::move(found));
}

TimeZone::Period TimeZone::period_at(TimePoint time) const {
  constexpr auto kLast = std::chrono::floor<cctz::seconds>(TimePoint::max().time_since_epoch());
  const auto second = std::chrono::floor<cctz::seconds>(time);
  const cctz::time_zone& zone = zone_->zone;
  Period period{.offset = std::chrono::seconds(zone.lookup(second).offset), .end = std::nullopt};
  cctz::time_zone::civil_transition change;
  if (zone.next_transition(second, &change)) {
    // The instant of a change is known by what the clocks show after it.
    const auto end = zone.lookup(change.to).trans.time_since_epoch();
    if (end <= kLast) {
      period.end = TimePoint(std::chrono::duration_cast<Duration>(end));
    }
  }
  return period;
}

}  // namespace millwright::base
