#include "millwright/app/cluster_clock.hpp"

#include "millwright/base/version.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace millwright::app {
namespace {

constexpr auto kTolerated = std::chrono::seconds(5);
constexpr auto kLookEvery = std::chrono::seconds(10);

constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

base::Task<void> ask(base::RealLoop& loop, kube::Transport& transport,
                     std::optional<base::TimePoint>& time, std::stop_token stop) {
  kube::ApiRequest request;
  request.path = "/version";
  const auto answer = co_await transport.call(std::move(request), stop);
  if (answer) {  // whatever it says about the request itself
    time = parse_http_date(answer->headers.get("Date"));
  }
  loop.stop();
}

}  // namespace

std::optional<base::TimePoint> parse_http_date(std::string_view text) {
  // "Sun, 06 Nov 1994 08:49:37 GMT"
  if (text.size() != 29 || text.substr(3, 2) != ", " || text.substr(25) != " GMT") {
    return std::nullopt;
  }
  const auto month = std::find(kMonths.begin(), kMonths.end(), text.substr(8, 3));
  if (month == kMonths.end()) {
    return std::nullopt;
  }
  std::string number = std::to_string(month - kMonths.begin() + 1);
  number.insert(0, 2 - number.size(), '0');
  const std::string rfc3339 = std::string(text.substr(12, 4)) + "-" + number + "-" +
                              std::string(text.substr(5, 2)) + "T" +
                              std::string(text.substr(17, 8)) + "Z";
  return base::parse_rfc3339(rfc3339);
}

std::optional<base::TimePoint> ask_cluster_clock(kube::Config config,
                                                 std::chrono::milliseconds limit,
                                                 std::stop_token stop) {
  base::RealLoop loop;
  std::optional<base::TimePoint> time;
  const auto transport = kube::make_transport(loop, std::move(config), base::Logger(),
                                              std::string("millwright/") + base::version());
  base::TaskGroup group(loop);
  group.spawn(ask(loop, *transport, time, group.stop_token()));
  loop.after(limit, [&loop] { loop.stop(); });
  const std::stop_callback on_stop(std::move(stop), [&loop] { loop.stop(); });
  loop.run();
  return time;
}

base::TimePoint choose_start(base::TimePoint machine, std::optional<base::TimePoint> cluster) {
  const bool agree = !cluster || std::chrono::abs(machine - *cluster) <= kTolerated;
  return agree ? machine : *cluster;
}

base::Task<void> watch_machine_clock(base::Loop& loop, base::Metrics* metrics, base::Logger log,
                                     std::stop_token stop) {
  base::Duration reported{};
  while (!stop.stop_requested()) {
    const base::Duration offset = base::system_now() - loop.now();
    metrics->set("millwright_clock_offset_seconds",
                 "How far this machine's clock is ahead of the time that the process counts by.",
                 {}, std::chrono::duration<double>(offset).count());
    if (std::chrono::abs(offset - reported) > kTolerated) {
      reported = offset;
      log.warn(
          "this machine's clock differs from the cluster's; only certificate checks follow "
          "it, but correct it",
          {{"machine-is-ahead-by-seconds",
            std::to_string(std::chrono::duration_cast<std::chrono::seconds>(offset).count())}});
    }
    co_await base::sleep(loop, kLookEvery, stop);
  }
}

}  // namespace millwright::app
