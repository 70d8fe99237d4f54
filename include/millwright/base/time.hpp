// Points in time and their text forms: RFC 3339 as Kubernetes writes it and Go durations.
// Nothing here reads a clock; the current time comes from a Loop.
#pragma once

#include "millwright/base/result.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace millwright::base {

using Duration = std::chrono::nanoseconds;
using TimePoint = std::chrono::sys_time<Duration>;

// nullopt beyond what a TimePoint holds, from 1677 to 2262. Durations that people write may last
// for 292 years.
std::optional<TimePoint> sum_of(TimePoint time, Duration duration);

// "2026-01-02T03:04:05Z": whole seconds, UTC, as metav1.Time is written.
std::string format_rfc3339(TimePoint time);
// "2026-01-02T03:04:05.000006Z": as metav1.MicroTime is written (Lease, Event).
std::string format_rfc3339_micro(TimePoint time);
// Accepts any fraction and any numeric offset, from 1970 to 2262: the difference of two such times
// is a Duration. nullopt for anything else.
std::optional<TimePoint> parse_rfc3339(std::string_view text);

// Go's time.ParseDuration: "1h30m", "300ms", "-1.5h", "0". Invalid for anything else or overflow.
Result<Duration> parse_go_duration(std::string_view text);
// Go's Duration.String(): "1h0m0s", "1.5s", "300ms", "0s".
std::string format_go_duration(Duration duration);
// Short for people: "45s", "3m10s", "2h5m", "3d4h", as kubectl prints ages.
std::string format_human_duration(Duration duration);

}  // namespace millwright::base
