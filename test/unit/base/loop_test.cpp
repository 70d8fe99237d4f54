#include "millwright/base/loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <string>
#include <thread>
#include <vector>

namespace millwright::base {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

const TimePoint kStart = *parse_rfc3339("2026-01-01T00:00:00Z");

class VirtualLoopTest : public testing::Test {
 protected:
  std::function<void()> note(std::string what) {
    return [this, what] { log_.push_back(what); };
  }
  VirtualLoop loop_{kStart};
  std::vector<std::string> log_;
};

TEST_F(VirtualLoopTest, RunsTimersInOrderOfTimeThenOfCreation) {
  loop_.after(2s, note("c"));
  loop_.after(1s, note("a"));
  loop_.after(1s, note("b"));
  loop_.run_until(kStart + 2s);
  EXPECT_THAT(log_, ElementsAre("a", "b", "c"));
  EXPECT_EQ(loop_.now(), kStart + 2s);
}

TEST_F(VirtualLoopTest, ShowsATimerItsOwnTime) {
  std::vector<TimePoint> seen;
  loop_.after(5s, [&] { seen.push_back(loop_.now()); });
  loop_.after(9s, [&] { seen.push_back(loop_.now()); });
  loop_.run_for(1h);
  EXPECT_THAT(seen, ElementsAre(kStart + 5s, kStart + 9s));
  EXPECT_EQ(loop_.now(), kStart + 1h);
}

TEST_F(VirtualLoopTest, LeavesLaterTimersForLater) {
  loop_.after(2s, note("later"));
  loop_.run_for(1s);
  EXPECT_TRUE(log_.empty());
  loop_.run_for(1s);
  EXPECT_THAT(log_, ElementsAre("later"));
}

TEST_F(VirtualLoopTest, RunsWhatIsPostedBeforeAnyTimer) {
  loop_.after(0s, note("timer"));
  loop_.post([this] {
    log_.push_back("first");
    loop_.post(note("second"));
  });
  loop_.run_for(0s);
  EXPECT_THAT(log_, ElementsAre("first", "second", "timer"));
}

TEST_F(VirtualLoopTest, FiresATimerOfThePastWithoutGoingBack) {
  loop_.run_for(1min);
  loop_.at(kStart, note("late"));
  loop_.run_for(0s);
  EXPECT_THAT(log_, ElementsAre("late"));
  EXPECT_EQ(loop_.now(), kStart + 1min);
}

TEST_F(VirtualLoopTest, DropsCancelledTimers) {
  const TimerId first = loop_.after(1s, note("cancelled"));
  const TimerId second = loop_.after(1s, note("kept"));
  loop_.cancel(first);
  loop_.run_for(1s);
  loop_.cancel(second);
  loop_.cancel(first);
  loop_.cancel(12345);
  EXPECT_THAT(log_, ElementsAre("kept"));
}

TEST_F(VirtualLoopTest, RunReadyDoesNotMoveTime) {
  loop_.post(note("posted"));
  loop_.after(0s, note("timer"));
  loop_.run_ready();
  EXPECT_THAT(log_, ElementsAre("posted"));
  EXPECT_EQ(loop_.now(), kStart);
}

TEST_F(VirtualLoopTest, RunUntilAConditionStopsAtOnceOrAtTheLimit) {
  for (int i = 1; i <= 5; ++i) {
    loop_.after(std::chrono::seconds(i), note("tick"));
  }
  EXPECT_TRUE(loop_.run_until([this] { return log_.size() == 3; }, 1min));
  EXPECT_EQ(loop_.now(), kStart + 3s);
  EXPECT_FALSE(loop_.run_until([this] { return log_.size() == 30; }, 1min));
  EXPECT_EQ(loop_.now(), kStart + 63s);
  EXPECT_EQ(log_.size(), 5);
}

TEST(RealLoop, RunsWhatOtherThreadsPostUntilItIsStopped) {
  RealLoop loop;
  std::vector<int> seen;
  std::thread other([&] {
    for (int i = 0; i < 100; ++i) {
      loop.post([&seen, i] { seen.push_back(i); });
    }
    loop.post([&loop] { loop.stop(); });
  });
  loop.run();
  other.join();
  ASSERT_EQ(seen.size(), 100);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(seen[i], static_cast<int>(i));
  }
}

TEST(RealLoop, RunsTimersInOrderAndNotBeforeTheirTime) {
  // A thousand loop seconds in each real one: the test takes milliseconds.
  RealLoop loop(1000, kStart);
  std::vector<std::string> log;
  bool early = false;
  const TimePoint later = kStart + 8s;
  loop.at(later, [&] {
    early = loop.now() < later;
    log.emplace_back("b");
    loop.stop();
  });
  loop.at(kStart + 4s, [&] { log.emplace_back("a"); });
  const TimerId cancelled = loop.at(kStart + 5s, [&] { log.emplace_back("x"); });
  loop.cancel(cancelled);
  loop.run();
  EXPECT_THAT(log, ElementsAre("a", "b"));
  EXPECT_FALSE(early);
}

TEST(RealLoop, WakesForATimerSetFromAnotherThread) {
  RealLoop loop;
  std::promise<void> running;
  loop.post([&running] { running.set_value(); });
  std::thread other([&] {
    running.get_future().wait();
    loop.after(0s, [&loop] { loop.stop(); });
  });
  loop.run();
  other.join();
}

TEST(RealLoop, TimeNeverGoesBackwards) {
  RealLoop loop(0.5);
  TimePoint last = loop.now();
  for (int i = 0; i < 1000; ++i) {
    const TimePoint now = loop.now();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(ComputeThreads, RunInOrderAndFinishBeforeTheyGoAway) {
  std::vector<int> seen;
  std::thread::id worker;
  {
    ComputeThreads compute;
    for (int i = 0; i < 50; ++i) {
      compute.run([&seen, &worker, i] {
        worker = std::this_thread::get_id();
        seen.push_back(i);
      });
    }
  }
  ASSERT_EQ(seen.size(), 50);
  EXPECT_EQ(seen.front(), 0);
  EXPECT_EQ(seen.back(), 49);
  EXPECT_NE(worker, std::this_thread::get_id());
}

TEST(ComputeThreads, WorkInTheBackgroundKeepsNothingWaiting) {
  std::promise<void> release;
  std::promise<void> done;
  ComputeThreads compute;
  compute.run_in_background([&release] { release.get_future().wait(); });
  compute.run([&done] { done.set_value(); });
  EXPECT_EQ(done.get_future().wait_for(std::chrono::minutes(1)), std::future_status::ready);
  release.set_value();
}

TEST(ComputeThreads, FinishWhatIsInTheBackgroundToo) {
  std::vector<int> seen;
  {
    ComputeThreads compute;
    for (int i = 0; i < 50; ++i) {
      compute.run_in_background([&seen, i] { seen.push_back(i); });
    }
  }
  ASSERT_EQ(seen.size(), 50);
  EXPECT_EQ(seen.back(), 49);
}

TEST(InlineCompute, RunsAtOnce) {
  InlineCompute compute;
  bool ran = false;
  compute.run([&ran] { ran = true; });
  EXPECT_TRUE(ran);
  compute.run_in_background([&ran] { ran = false; });
  EXPECT_FALSE(ran);
}

}  // namespace
}  // namespace millwright::base
