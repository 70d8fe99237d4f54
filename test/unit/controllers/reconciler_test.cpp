#include "millwright/controllers/reconciler.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace millwright::controllers {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class Records final : public base::LogSink {
 public:
  bool enabled(base::LogLevel) const override { return true; }
  void write(base::LogLevel, std::string_view, std::string_view message,
             const std::vector<base::LogField>& fields) override {
    messages.emplace_back(message);
    latest = {fields.begin(), fields.end()};
  }
  std::vector<std::string> messages;
  std::map<std::string, std::string> latest;
};

// What the reconciler under test asks of its function, scripted by the test.
class Script {
 public:
  Script() : loop(base::TimePoint(seconds(1'000))), group(loop) {}

  Reconciler make(ReconcilerOptions options = {}) {
    return Reconciler(
        {.loop = loop,
         .metrics = metrics,
         .log = base::Logger(records, "controller"),
         .name = "test",
         .kind = "NodeClaim"},
        [this](std::string key, base::Logger, std::stop_token) { return work(std::move(key)); },
        options);
  }

  base::Task<base::Result<Requeue>> work(std::string key) {
    starts.push_back(key);
    ++active[key];
    most_active = std::max(most_active, active[key]);
    total_active = std::max(total_active, ++now_active);
    co_await base::sleep(loop, takes);
    --active[key];
    --now_active;
    if (failures > 0) {
      --failures;
      co_return base::fail(base::ErrorKind::Unavailable, "not now");
    }
    if (conflicts > 0) {
      --conflicts;
      co_return base::fail(base::ErrorKind::Conflict, "somebody else was first");
    }
    co_return requeue;
  }

  base::VirtualLoop loop;
  base::TaskGroup group;
  base::Metrics metrics;
  std::shared_ptr<Records> records = std::make_shared<Records>();
  std::vector<std::string> starts;
  std::map<std::string, int> active;
  int most_active = 0;
  int now_active = 0;
  int total_active = 0;
  int failures = 0;
  int conflicts = 0;  // after those
  base::Duration takes = milliseconds(10);
  Requeue requeue;
};

TEST(Reconciler, SaysWhoseRecordsTheyAreAndWhichReconciliation) {
  Script script;
  auto reconciler = script.make();
  std::stop_source stop;
  script.failures = 2;
  script.group.spawn(reconciler.run(stop.get_token()));
  script.loop.run_ready();
  reconciler.enqueue("default-abcde");
  script.loop.run_for(milliseconds(50));
  const auto first = script.records->latest;
  script.loop.run_for(seconds(1));
  const auto second = script.records->latest;
  stop.request_stop();
  script.loop.run_for(seconds(1));

  ASSERT_EQ(script.records->messages.size(), 2);
  EXPECT_EQ(first.at("controller"), "test");
  EXPECT_EQ(first.at("namespace"), "");
  EXPECT_EQ(first.at("name"), "default-abcde");
  EXPECT_EQ(first.at("NodeClaim"), "default-abcde");
  EXPECT_EQ(first.at("reconcileID").size(), 36);
  EXPECT_NE(first.at("reconcileID"), second.at("reconcileID"));
}

// A machine whose launch had failed for a minute joined at last, and stayed closed for another one.
TEST(Reconciler, LooksAgainSoonAfterAConflictWhateverFailedBefore) {
  Script script;
  auto reconciler = script.make();
  std::stop_source stop;
  script.failures = 6;
  script.conflicts = 2;
  script.group.spawn(reconciler.run(stop.get_token()));
  script.loop.run_ready();
  reconciler.enqueue("a");
  const auto first_conflict = [&] { return script.conflicts < 2; };
  ASSERT_TRUE(script.loop.run_until(first_conflict, std::chrono::minutes(5)));
  script.loop.run_for(seconds(4));
  EXPECT_EQ(script.starts.size(), 9);
  stop.request_stop();
  script.loop.run_for(seconds(1));
}

TEST(Reconciler, IgnoresKeysUntilItRuns) {
  Script script;
  auto reconciler = script.make();
  reconciler.enqueue("early");
  std::stop_source stop;
  script.group.spawn(reconciler.run(stop.get_token()));
  script.loop.run_for(seconds(1));
  EXPECT_TRUE(script.starts.empty());
  reconciler.enqueue("a");
  script.loop.run_for(seconds(1));
  EXPECT_EQ(script.starts, std::vector<std::string>{"a"});
  stop.request_stop();
  script.loop.run_for(seconds(1));
  EXPECT_TRUE(script.group.empty());
}

TEST(Reconciler, NeverRunsOneKeyTwiceAtOnceAndLosesNoChange) {
  Script script;
  auto reconciler = script.make();
  std::stop_source stop;
  script.group.spawn(reconciler.run(stop.get_token()));
  script.loop.run_ready();
  reconciler.enqueue("a");
  script.loop.run_for(milliseconds(5));
  reconciler.enqueue("a");
  reconciler.enqueue("a");
  script.loop.run_for(seconds(1));
  EXPECT_EQ(script.starts.size(), 2U);
  EXPECT_EQ(script.most_active, 1);
  stop.request_stop();
  script.loop.run_for(seconds(1));
}

TEST(Reconciler, KeepsToItsConcurrency) {
  Script script;
  auto reconciler = script.make({.max_concurrent = 2});
  std::stop_source stop;
  script.group.spawn(reconciler.run(stop.get_token()));
  script.loop.run_ready();
  for (const char* key : {"a", "b", "c", "d", "e"}) {
    reconciler.enqueue(key);
  }
  script.loop.run_for(seconds(1));
  EXPECT_EQ(script.starts.size(), 5U);
  EXPECT_EQ(script.total_active, 2);
  stop.request_stop();
  script.loop.run_for(seconds(1));
}

TEST(Reconciler, BacksOffAfterFailures) {
  Script script;
  auto reconciler =
      script.make({.min_backoff = milliseconds(100), .max_backoff = milliseconds(400)});
  std::stop_source stop;
  script.failures = 4;
  script.takes = base::Duration::zero();
  script.group.spawn(reconciler.run(stop.get_token()));
  script.loop.run_ready();
  reconciler.enqueue("a");
  // Tries at 0, 100, 300, 700 and 1,100 ms.
  const std::pair<int, std::size_t> expected[] = {
      {50, 1}, {150, 2}, {350, 3}, {750, 4}, {1'150, 5}};
  const base::TimePoint begun = script.loop.now();
  for (const auto& [at, tries] : expected) {
    script.loop.run_until(begun + milliseconds(at));
    EXPECT_EQ(script.starts.size(), tries) << at;
  }
  script.loop.run_for(seconds(10));
  EXPECT_EQ(script.starts.size(), 5U);
  stop.request_stop();
  script.loop.run_for(seconds(1));
}

// It writes the failure into the object, which is an event of the object.
TEST(Reconciler, BacksOffThoughItsOwnWritesNudgeItAndNotOnceThereIsNews) {
  Script script;
  auto reconciler = script.make({.min_backoff = seconds(10)});
  std::stop_source stop;
  script.failures = 2;
  script.group.spawn(reconciler.run(stop.get_token()));
  script.loop.run_ready();
  reconciler.enqueue("a");
  script.loop.run_for(milliseconds(5));
  reconciler.nudge("a");
  script.loop.run_for(seconds(9));
  EXPECT_EQ(script.starts.size(), 1U);
  reconciler.nudge("a");  // somebody else's, since nothing is in progress
  script.loop.run_for(milliseconds(5));
  EXPECT_EQ(script.starts.size(), 2U);
  reconciler.nudge("a");
  reconciler.enqueue("a");
  script.loop.run_for(milliseconds(10));
  EXPECT_EQ(script.starts.size(), 3U);
  reconciler.nudge("a");  // during one that succeeds
  script.loop.run_for(milliseconds(20));
  EXPECT_EQ(script.starts.size(), 4U);
  stop.request_stop();
  script.loop.run_for(seconds(1));
}

TEST(Reconciler, ComesBackWhenAsked) {
  Script script;
  auto reconciler = script.make();
  std::stop_source stop;
  script.requeue = seconds(60);
  script.group.spawn(reconciler.run(stop.get_token()));
  script.loop.run_ready();
  reconciler.enqueue("a");
  script.loop.run_for(seconds(150));
  EXPECT_EQ(script.starts.size(), 3U);
  stop.request_stop();
  script.loop.run_for(seconds(100));
  EXPECT_EQ(script.starts.size(), 3U);
}

}  // namespace
}  // namespace millwright::controllers
