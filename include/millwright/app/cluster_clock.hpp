// The clock of the process. Objects carry times of the API server (creationTimestamp) and of
// earlier leaders. A replica whose machine is an hour ahead would find every claim an hour too old
// and give up nodes that are still starting. So a process starts with the API server's time when
// the machine's differs, and then counts by the monotonic clock: corrections of the machine's time
// do not move it.
#pragma once

#include "millwright/base/log.hpp"
#include "millwright/base/loop.hpp"
#include "millwright/base/metrics.hpp"
#include "millwright/base/task.hpp"
#include "millwright/kube/config.hpp"

#include <chrono>
#include <optional>
#include <stop_token>
#include <string_view>

namespace millwright::app {

// The IMF-fixdate of HTTP's Date header (RFC 9110, section 5.6.7); nullopt for anything else.
std::optional<base::TimePoint> parse_http_date(std::string_view text);

// The API server's time from its Date header, to the second, as of now; nullopt when it does not
// answer within `limit`, or before `stop`. Blocks.
std::optional<base::TimePoint> ask_cluster_clock(kube::Config config,
                                                 std::chrono::milliseconds limit,
                                                 std::stop_token stop = {});

// The machine's time unless the cluster's is known and further away than the Date header's
// resolution and a slow answer explain.
base::TimePoint choose_start(base::TimePoint machine, std::optional<base::TimePoint> cluster);

// Keeps the gauge millwright_clock_offset_seconds of `metrics`, which outlives it (machine minus
// process; certificates are checked by the machine's) and logs a warning when it moves.
base::Task<void> watch_machine_clock(base::Loop& loop, base::Metrics* metrics, base::Logger log,
                                     std::stop_token stop);

}  // namespace millwright::app
