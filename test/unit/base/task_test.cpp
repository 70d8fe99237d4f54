#include "millwright/base/task.hpp"

#include "millwright/base/result.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace millwright::base {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

const TimePoint kTaskStart = *parse_rfc3339("2026-01-01T00:00:00Z");
using Log = std::vector<std::string>;

class TaskTest : public testing::Test {
 protected:
  VirtualLoop loop_{kTaskStart};
  Log log_;
};

Task<int> plus_one(int value) {
  co_return value + 1;
}

Task<std::int64_t> sum_to(int count) {
  std::int64_t sum = 0;
  for (int i = 0; i < count; ++i) {
    sum += co_await plus_one(i);
  }
  co_return sum;
}

Task<void> store_sum(int count, std::int64_t* out) {
  const std::int64_t sum = co_await sum_to(count);
  *out = sum;
}

TEST_F(TaskTest, IsLazyAndGivesItsValueToTheAwaiter) {
  std::int64_t sum = 0;
  TaskGroup group(loop_);
  group.spawn(store_sum(4, &sum));
  EXPECT_EQ(sum, 0);
  loop_.run_ready();
  EXPECT_EQ(sum, 10);
  EXPECT_TRUE(group.empty());
}

TEST_F(TaskTest, AwaitingAMillionInARowDoesNotGrowTheStack) {
  constexpr int kCount = 1'000'000;
  std::int64_t sum = 0;
  TaskGroup group(loop_);
  group.spawn(store_sum(kCount, &sum));
  loop_.run_ready();
  EXPECT_EQ(sum, std::int64_t{kCount} * (kCount + 1) / 2);
}

Task<void> nap(Loop* loop, Duration delay, std::stop_token stop, Log* log, std::string name) {
  const bool finished = co_await sleep(*loop, delay, std::move(stop));
  log->push_back(name + (finished ? " woke" : " stopped"));
}

TEST_F(TaskTest, SleepTakesItsTime) {
  TaskGroup group(loop_);
  group.spawn(nap(&loop_, 3s, {}, &log_, "b"));
  group.spawn(nap(&loop_, 1s, {}, &log_, "a"));
  loop_.run_for(2s);
  EXPECT_THAT(log_, ElementsAre("a woke"));
  loop_.run_for(2s);
  EXPECT_THAT(log_, ElementsAre("a woke", "b woke"));
}

TEST_F(TaskTest, SleepEndsEarlyWhenStopped) {
  TaskGroup group(loop_);
  group.spawn(nap(&loop_, 1h, group.stop_token(), &log_, "a"));
  loop_.run_for(1s);
  group.request_stop();
  loop_.run_ready();
  EXPECT_THAT(log_, ElementsAre("a stopped"));
  EXPECT_EQ(loop_.now(), kTaskStart + 1s);
  group.spawn(nap(&loop_, 1h, group.stop_token(), &log_, "b"));
  loop_.run_ready();
  EXPECT_THAT(log_, ElementsAre("a stopped", "b stopped"));
}

Task<void> log_after_yield(Loop* loop, Log* log, std::string name) {
  log->push_back(name + " before");
  co_await yield(*loop);
  log->push_back(name + " after");
}

TEST_F(TaskTest, YieldLetsOthersRunFirst) {
  TaskGroup group(loop_);
  group.spawn(log_after_yield(&loop_, &log_, "a"));
  group.spawn(log_after_yield(&loop_, &log_, "b"));
  loop_.run_ready();
  EXPECT_THAT(log_, ElementsAre("a before", "b before", "a after", "b after"));
}

Task<void> await_promise(Promise<int> promise, Log* log) {
  const int value = co_await promise.get();
  log->push_back(std::to_string(value));
}

TEST_F(TaskTest, PromiseResumesThroughTheLoopAndTakesItsFirstValueOnly) {
  const Promise<int> promise(loop_);
  TaskGroup group(loop_);
  group.spawn(await_promise(promise, &log_));
  loop_.run_ready();
  EXPECT_FALSE(promise.is_set());
  promise.set(1);
  promise.set(2);
  EXPECT_TRUE(promise.is_set());
  EXPECT_TRUE(log_.empty());
  loop_.run_ready();
  EXPECT_THAT(log_, ElementsAre("1"));
}

TEST_F(TaskTest, PromiseMaySetBeforeAnyoneWaits) {
  const Promise<int> promise(loop_);
  promise.set(7);
  TaskGroup group(loop_);
  group.spawn(await_promise(promise, &log_));
  loop_.run_ready();
  EXPECT_THAT(log_, ElementsAre("7"));
}

TEST_F(TaskTest, PromiseSetAfterItsWaiterWasDestroyedDoesNothing) {
  const Promise<int> promise(loop_);
  {
    TaskGroup group(loop_);
    group.spawn(await_promise(promise, &log_));
    loop_.run_ready();
    promise.set(1);  // posted, and destroyed before it runs
  }
  loop_.run_ready();
  EXPECT_TRUE(log_.empty());
}

Task<void> stop_loop_after(RealLoop* loop, Promise<int> promise, int* out) {
  *out = co_await promise.get();
  loop->stop();
}

TEST(RealPromise, MayBeSetFromAnotherThread) {
  RealLoop loop;
  const Promise<int> promise(loop);
  int value = 0;
  TaskGroup group(loop);
  group.spawn(stop_loop_after(&loop, promise, &value));
  std::thread other([&promise] { promise.set(5); });
  loop.run();
  other.join();
  EXPECT_EQ(value, 5);
}

Task<void> wait_signal(Signal* signal, std::stop_token stop, std::optional<Duration> timeout,
                       Log* log, std::string name) {
  const bool notified = co_await signal->wait(std::move(stop), timeout);
  log->push_back(name + (notified ? " notified" : " not"));
}

TEST_F(TaskTest, SignalWakesEveryWaiter) {
  Signal signal(loop_);
  TaskGroup group(loop_);
  group.spawn(wait_signal(&signal, {}, std::nullopt, &log_, "a"));
  group.spawn(wait_signal(&signal, {}, std::nullopt, &log_, "b"));
  loop_.run_ready();
  EXPECT_TRUE(log_.empty());
  signal.notify();
  loop_.run_ready();
  EXPECT_THAT(log_, ElementsAre("a notified", "b notified"));
}

TEST_F(TaskTest, SignalRemembersOneNotification) {
  Signal signal(loop_);
  signal.notify();
  signal.notify();
  TaskGroup group(loop_);
  group.spawn(wait_signal(&signal, {}, std::nullopt, &log_, "a"));
  group.spawn(wait_signal(&signal, {}, 1s, &log_, "b"));
  loop_.run_for(1min);
  EXPECT_THAT(log_, ElementsAre("a notified", "b not"));
}

TEST_F(TaskTest, SignalIsNotLostToAWaiterThatGaveUp) {
  Signal signal(loop_);
  TaskGroup group(loop_);
  group.spawn(wait_signal(&signal, {}, 1s, &log_, "a"));
  loop_.run_for(2s);
  EXPECT_THAT(log_, ElementsAre("a not"));
  signal.notify();
  group.spawn(wait_signal(&signal, {}, 1s, &log_, "b"));
  loop_.run_for(2s);
  EXPECT_THAT(log_, ElementsAre("a not", "b notified"));
}

TEST_F(TaskTest, SignalIsNotLostToAWaiterThatWasDestroyed) {
  Signal signal(loop_);
  {
    TaskGroup group(loop_);
    group.spawn(wait_signal(&signal, {}, std::nullopt, &log_, "a"));
    loop_.run_ready();
  }
  signal.notify();
  TaskGroup group(loop_);
  group.spawn(wait_signal(&signal, {}, 1s, &log_, "b"));
  loop_.run_for(2s);
  EXPECT_THAT(log_, ElementsAre("b notified"));
}

TEST_F(TaskTest, SignalWaitEndsWhenStopped) {
  Signal signal(loop_);
  TaskGroup group(loop_);
  group.spawn(wait_signal(&signal, group.stop_token(), std::nullopt, &log_, "a"));
  loop_.run_ready();
  group.request_stop();
  loop_.run_ready();
  EXPECT_THAT(log_, ElementsAre("a not"));
}

Task<void> throw_after(Loop* loop, Duration delay) {
  co_await sleep(*loop, delay);
  throw std::runtime_error("broken");
}

Task<void> catch_thrown(Loop* loop, Log* log) {
  try {
    co_await throw_after(loop, 1s);
  } catch (const std::runtime_error& error) {
    log->push_back(error.what());
  }
}

TEST_F(TaskTest, ExceptionsReachTheAwaiter) {
  TaskGroup group(loop_);
  group.spawn(catch_thrown(&loop_, &log_));
  loop_.run_for(2s);
  EXPECT_THAT(log_, ElementsAre("broken"));
}

TEST_F(TaskTest, AnExceptionThatLeavesAChildGoesToTheGroupsHandler) {
  TaskGroup group(loop_, [this](const std::exception_ptr& failure) {
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& error) {
      log_.push_back(std::string("handled ") + error.what());
    }
  });
  group.spawn(throw_after(&loop_, 1s));
  group.spawn(nap(&loop_, 2s, {}, &log_, "other"));
  loop_.run_for(3s);
  EXPECT_THAT(log_, ElementsAre("handled broken", "other woke"));
  EXPECT_TRUE(group.empty());
}

TEST(TaskGroupDeathTest, ByDefaultAnExceptionThatLeavesAChildEndsTheProcess) {
  EXPECT_DEATH(
      {
        VirtualLoop loop(kTaskStart);
        TaskGroup group(loop);
        group.spawn(throw_after(&loop, 1s));
        loop.run_for(2s);
      },
      "ended with an exception: broken");
}

Task<void> join_and_log(TaskGroup* group, Log* log) {
  co_await group->join();
  log->push_back("joined");
}

TEST_F(TaskTest, JoinWaitsForTheLastChild) {
  TaskGroup group(loop_);
  TaskGroup outer(loop_);
  group.spawn(nap(&loop_, 1s, {}, &log_, "a"));
  group.spawn(nap(&loop_, 2s, {}, &log_, "b"));
  outer.spawn(join_and_log(&group, &log_));
  loop_.run_for(10s);
  EXPECT_THAT(log_, ElementsAre("a woke", "b woke", "joined"));
  outer.spawn(join_and_log(&group, &log_));
  loop_.run_ready();
  EXPECT_EQ(log_.back(), "joined");
  EXPECT_EQ(log_.size(), 4);
}

Task<void> sleep_for(Loop* loop, Duration delay) {
  co_await sleep(*loop, delay);
}

Task<void> join_in_time(TaskGroup* group, Duration limit, Log* log) {
  const bool ended = co_await group->join_within(limit);
  log->push_back(ended ? "ended" : "too late");
}

TEST_F(TaskTest, AGroupIsWaitedForNoLongerThanSaid) {
  struct Case {
    Duration work;
    Duration limit;
    const char* said;
    Duration after;
  };
  for (const Case& one :
       {Case{3s, 5s, "ended", 3s}, Case{5s, 3s, "too late", 3s}, Case{0s, 0s, "ended", 0s}}) {
    log_.clear();
    TaskGroup group(loop_);
    TaskGroup outer(loop_);
    const TimePoint begun = loop_.now();
    if (one.work > 0s) {
      group.spawn(sleep_for(&loop_, one.work));
    }
    outer.spawn(join_in_time(&group, one.limit, &log_));
    loop_.run_until([this] { return !log_.empty(); }, 1min);
    EXPECT_THAT(log_, ElementsAre(one.said));
    EXPECT_EQ(loop_.now() - begun, one.after);
    loop_.run_for(1min);
    EXPECT_TRUE(group.empty());
    EXPECT_TRUE(outer.empty());
    EXPECT_EQ(log_.size(), 1U);
  }
}

// Says when a coroutine's frame goes away.
class Tombstone {
 public:
  explicit Tombstone(Log* log) : log_(log) {}
  Tombstone(const Tombstone&) = delete;
  Tombstone& operator=(const Tombstone&) = delete;
  ~Tombstone() { log_->push_back("destroyed"); }

 private:
  Log* log_;
};

Task<void> sleep_forever(Loop* loop, Log* log) {
  const Tombstone tombstone(log);
  co_await sleep(*loop, 24h);
  log->push_back("woke");
}

TEST_F(TaskTest, DestroyingTheGroupDestroysWhatStillRuns) {
  {
    TaskGroup group(loop_);
    group.spawn(sleep_forever(&loop_, &log_));
    loop_.run_for(1s);
    EXPECT_FALSE(group.empty());
  }
  EXPECT_THAT(log_, ElementsAre("destroyed"));
  loop_.run_for(48h);
  EXPECT_THAT(log_, ElementsAre("destroyed"));
}

TEST_F(TaskTest, ATaskNeverAwaitedNeverRuns) {
  { const Task<void> task = sleep_forever(&loop_, &log_); }
  EXPECT_TRUE(log_.empty());
}

Task<void> offload_and_log(Loop* loop, Compute* compute, Log* log) {
  const int value = co_await offload(*loop, *compute, [] { return 42; });
  log->push_back(std::to_string(value));
  try {
    co_await offload(*loop, *compute, []() -> int { throw std::runtime_error("in compute"); });
  } catch (const std::runtime_error& error) {
    log->push_back(error.what());
  }
}

TEST_F(TaskTest, OffloadBringsValuesAndExceptionsBack) {
  InlineCompute compute;
  TaskGroup group(loop_);
  group.spawn(offload_and_log(&loop_, &compute, &log_));
  loop_.run_ready();
  EXPECT_THAT(log_, ElementsAre("42", "in compute"));
}

Task<void> offload_then_stop(RealLoop* loop, Compute* compute, std::thread::id* worker) {
  *worker = co_await offload(*loop, *compute, [] { return std::this_thread::get_id(); });
  loop->stop();
}

TEST(Offload, RunsOnAComputeThreadAndResumesOnTheLoop) {
  RealLoop loop;
  std::thread::id worker;
  {
    ComputeThreads compute;
    TaskGroup group(loop);
    group.spawn(offload_then_stop(&loop, &compute, &worker));
    loop.run();
  }
  EXPECT_NE(worker, std::thread::id());
  EXPECT_NE(worker, std::this_thread::get_id());
}

Task<Result<int>> checked(int value) {
  if (value < 0) {
    co_return fail(ErrorKind::Invalid, "negative");
  }
  co_return value;
}

Task<Result<int>> doubled(int value) {
  MW_CO_TRY(once, co_await checked(value));
  co_return once * 2;
}

Task<void> log_doubled(int value, Log* log) {
  const auto result = co_await doubled(value);
  log->push_back(result ? std::to_string(*result) : result.error().message);
}

TEST_F(TaskTest, MwCoTryReturnsTheError) {
  TaskGroup group(loop_);
  group.spawn(log_doubled(4, &log_));
  group.spawn(log_doubled(-4, &log_));
  loop_.run_ready();
  EXPECT_THAT(log_, ElementsAre("8", "negative"));
}

Task<Result<>> both_checked(int first, int second) {
  MW_CO_CHECK(co_await checked(first));
  const Result<int> other = co_await checked(second);
  MW_CO_CHECK(other);
  co_return Result<>{};
}

Task<void> log_checked(int first, int second, Log* log) {
  const auto result = co_await both_checked(first, second);
  log->push_back(result ? "passed" : result.error().message);
}

TEST_F(TaskTest, MwCoCheckReturnsTheErrorOfAnExpressionAndOfAVariable) {
  TaskGroup group(loop_);
  group.spawn(log_checked(1, 2, &log_));
  group.spawn(log_checked(-1, 2, &log_));
  group.spawn(log_checked(1, -2, &log_));
  loop_.run_ready();
  EXPECT_THAT(log_, ElementsAre("passed", "negative", "negative"));
}

}  // namespace
}  // namespace millwright::base
