#include "millwright/app/cluster_clock.hpp"

#include "millwright/net/server.hpp"

#include <gtest/gtest.h>

namespace millwright::app {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(HttpDates, AreRead) {
  const auto expected = base::parse_rfc3339("1994-11-06T08:49:37Z");
  ASSERT_TRUE(expected.has_value());
  EXPECT_EQ(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT"), *expected);
}

TEST(HttpDates, InAnyOtherFormAreNotGuessed) {
  for (const std::string_view text :
       {"", "Sun, 06 Nov 1994 08:49:37 CET", "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994", "Sun, 06 Nix 1994 08:49:37 GMT",
        "Sun, 36 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:3x GMT",
        "Sun, 06 Nov 199\xff 08:49:37 GMT"}) {
    EXPECT_FALSE(parse_http_date(text).has_value()) << text;
  }
}

TEST(TheStart, IsTheMachinesTimeUnlessTheClusterDisagrees) {
  const base::TimePoint machine = base::system_now();
  EXPECT_EQ(choose_start(machine, std::nullopt), machine);
  EXPECT_EQ(choose_start(machine, machine - seconds(2)), machine);
  EXPECT_EQ(choose_start(machine, machine + hours(1)), machine + hours(1));
  EXPECT_EQ(choose_start(machine, machine - hours(1)), machine - hours(1));
}

kube::Config config_of(int port) {
  kube::Config config;
  config.server = "http://127.0.0.1:" + std::to_string(port);
  return config;
}

void answer_with_date(net::Exchange& exchange) {
  auto response = net::Response::text(403, "no\n");
  response.headers.set("Date", "Sun, 06 Nov 1994 08:49:37 GMT");
  exchange.respond(std::move(response));
}

TEST(TheClustersClock, ComesWithWhateverTheServerAnswers) {
  auto server =
      net::Server::start(net::ServerOptions{.tls = false},
                         [](const net::Request&, const std::shared_ptr<net::Exchange>& exchange) {
                           answer_with_date(*exchange);
                         });
  ASSERT_TRUE(server.has_value()) << server.error().message;
  const auto time = ask_cluster_clock(config_of((*server)->port()), seconds(10));
  EXPECT_EQ(time, parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT"));
}

TEST(TheClustersClock, IsNotWaitedForLonger) {
  std::vector<std::shared_ptr<net::Exchange>> unanswered;
  auto server = net::Server::start(
      net::ServerOptions{.tls = false},
      [&unanswered](const net::Request&, const std::shared_ptr<net::Exchange>& exchange) {
        unanswered.push_back(exchange);
      });
  ASSERT_TRUE(server.has_value()) << server.error().message;
  EXPECT_EQ(ask_cluster_clock(config_of((*server)->port()), milliseconds(50)), std::nullopt);
}

// The process is told to end while it asks, or was before. What is answered then is not heard.
TEST(TheClustersClock, IsNotWaitedForAfterAStop) {
  std::stop_source stop;
  auto server =
      net::Server::start(net::ServerOptions{.tls = false},
                         [&](const net::Request&, const std::shared_ptr<net::Exchange>& exchange) {
                           stop.request_stop();
                           answer_with_date(*exchange);
                         });
  ASSERT_TRUE(server.has_value()) << server.error().message;
  const auto config = config_of((*server)->port());
  EXPECT_EQ(ask_cluster_clock(config, seconds(10), stop.get_token()), std::nullopt);
  EXPECT_EQ(ask_cluster_clock(config, seconds(10), stop.get_token()), std::nullopt);
}

class Messages final : public base::LogSink {
 public:
  bool enabled(base::LogLevel level) const override { return level >= base::LogLevel::Warn; }
  void write(base::LogLevel, std::string_view, std::string_view message,
             const std::vector<base::LogField>&) override {
    all.emplace_back(message);
  }
  std::vector<std::string> all;
};

TEST(TheMachinesClock, IsWatched) {
  base::VirtualLoop loop(base::system_now() - hours(1));
  base::Metrics metrics;
  const auto said = std::make_shared<Messages>();
  const base::Logger log(said, "test");
  base::TaskGroup group(loop);
  group.spawn(watch_machine_clock(loop, &metrics, log, group.stop_token()));
  loop.run_ready();
  EXPECT_NEAR(metrics.value("millwright_clock_offset_seconds"), 3600, 30);
  EXPECT_EQ(said->all.size(), 1U);
  group.request_stop();
  loop.run_ready();
}

}  // namespace
}  // namespace millwright::app
