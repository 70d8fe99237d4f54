#include "millwright/base/loop.hpp"

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

namespace millwright::base {
namespace {

// Goes on while the machine is suspended, which steady_clock does not.
Duration since_boot() {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// Waiting stands still while the machine is suspended: the clock is looked at again so often.
constexpr std::chrono::seconds kLongestWait{1};

// Timers ordered by (time, id): equal times fire in the order they were made.
class TimerQueue {
 public:
  TimerId add(TimePoint time, std::function<void()> callback) {
    const TimerId id = ++last_id_;
    by_time_.emplace(std::pair{time, id}, std::move(callback));
    times_.emplace(id, time);
    return id;
  }
  void cancel(TimerId id) {
    const auto found = times_.find(id);
    if (found != times_.end()) {
      by_time_.erase({found->second, id});
      times_.erase(found);
    }
  }
  bool empty() const { return by_time_.empty(); }
  TimePoint next_time() const { return by_time_.begin()->first.first; }
  std::function<void()> pop() {
    auto node = by_time_.extract(by_time_.begin());
    times_.erase(node.key().second);
    return std::move(node.mapped());
  }

 private:
  TimerId last_id_ = 0;
  std::map<std::pair<TimePoint, TimerId>, std::function<void()>> by_time_;
  std::unordered_map<TimerId, TimePoint> times_;
};

}  // namespace

struct VirtualLoop::State {
  TimePoint now;
  std::deque<std::function<void()>> ready;
  TimerQueue timers;

  // Runs one callback due no later than `limit`; false when there is none.
  bool step(TimePoint limit) {
    if (ready.empty()) {
      if (timers.empty() || timers.next_time() > limit) {
        return false;
      }
      now = std::max(now, timers.next_time());
      ready.push_back(timers.pop());
    }
    const auto callback = std::move(ready.front());
    ready.pop_front();
    callback();
    return true;
  }
};

VirtualLoop::VirtualLoop(TimePoint start) : state_(std::make_unique<State>()) {
  state_->now = start;
}
VirtualLoop::~VirtualLoop() = default;
TimePoint VirtualLoop::now() const {
  return state_->now;
}
void VirtualLoop::post(std::function<void()> callback) {
  state_->ready.push_back(std::move(callback));
}
TimerId VirtualLoop::at(TimePoint time, std::function<void()> callback) {
  return state_->timers.add(time, std::move(callback));
}
void VirtualLoop::cancel(TimerId timer) {
  state_->timers.cancel(timer);
}

void VirtualLoop::run_until(TimePoint time) {
  while (state_->step(time)) {
  }
  state_->now = std::max(state_->now, time);
}

bool VirtualLoop::run_until(const std::function<bool()>& done, Duration limit) {
  const TimePoint end = state_->now + limit;
  while (!done()) {
    if (!state_->step(end)) {
      state_->now = std::max(state_->now, end);
      return done();
    }
  }
  return true;
}

void VirtualLoop::run_ready() {
  while (!state_->ready.empty()) {
    state_->step(state_->now);
  }
}

struct RealLoop::State {
  double scale;
  TimePoint start;
  Duration origin = since_boot();
  std::mutex mutex;
  std::condition_variable wake;
  std::deque<std::function<void()>> ready;
  TimerQueue timers;
  bool stopped = false;

  TimePoint now() const {
    const Duration real = since_boot() - origin;
    const auto scaled = static_cast<double>(real.count()) * scale;
    return start + Duration(static_cast<Duration::rep>(scaled));
  }
  // Real time until then, rounded up, so that waking early never spins.
  Duration until(TimePoint time) const {
    const auto real = static_cast<double>((time - start).count()) / scale;
    const auto passed = static_cast<double>((since_boot() - origin).count());
    const auto longest = static_cast<double>(Duration(kLongestWait).count());
    return Duration(static_cast<Duration::rep>(std::min(real - passed + 1, longest)));
  }
};

RealLoop::RealLoop(double scale) : RealLoop(scale, system_now()) {}
RealLoop::RealLoop(double scale, TimePoint start) : state_(std::make_unique<State>()) {
  state_->scale = scale;
  state_->start = start;
}
RealLoop::~RealLoop() = default;

TimePoint RealLoop::now() const {
  return state_->now();
}

void RealLoop::post(std::function<void()> callback) {
  {
    const std::scoped_lock lock(state_->mutex);
    state_->ready.push_back(std::move(callback));
  }
  state_->wake.notify_one();
}

TimerId RealLoop::at(TimePoint time, std::function<void()> callback) {
  TimerId id = 0;
  {
    const std::scoped_lock lock(state_->mutex);
    id = state_->timers.add(time, std::move(callback));
  }
  state_->wake.notify_one();
  return id;
}

void RealLoop::cancel(TimerId timer) {
  const std::scoped_lock lock(state_->mutex);
  state_->timers.cancel(timer);
}

void RealLoop::run() {
  std::unique_lock lock(state_->mutex);
  while (!state_->stopped) {
    while (!state_->timers.empty() && state_->timers.next_time() <= state_->now()) {
      state_->ready.push_back(state_->timers.pop());
    }
    if (state_->ready.empty()) {
      if (state_->timers.empty()) {
        state_->wake.wait(lock);
      } else {
        state_->wake.wait_for(lock, state_->until(state_->timers.next_time()));
      }
      continue;
    }
    const auto callback = std::move(state_->ready.front());
    state_->ready.pop_front();
    lock.unlock();
    callback();
    lock.lock();
  }
}

void RealLoop::stop() {
  {
    const std::scoped_lock lock(state_->mutex);
    state_->stopped = true;
  }
  state_->wake.notify_all();
}

class ComputeThreads::Worker {
 public:
  explicit Worker(std::function<void()> prepare = [] {})
      : thread_([this, first = std::move(prepare)] {
          first();
          work();
        }) {}
  ~Worker() {
    {
      const std::scoped_lock lock(mutex_);
      stopped_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void add(std::function<void()> job) {
    {
      const std::scoped_lock lock(mutex_);
      queue_.push_back(std::move(job));
    }
    wake_.notify_one();
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      wake_.wait(lock, [this] { return stopped_ || !queue_.empty(); });
      if (queue_.empty()) {
        return;
      }
      const auto job = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      job();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> queue_;
  bool stopped_ = false;
  std::thread thread_;  // the last: it reads the others
};

namespace {

// On a machine whose cores are all busy, a second thread of equal right would halve the speed of
// the first. Linux knows a priority for each thread; a failure only costs speed.
void prefer_others() {
  constexpr int kNiceness = 10;
  setpriority(PRIO_PROCESS, 0, kNiceness);
}

}  // namespace

ComputeThreads::ComputeThreads() : worker_(std::make_unique<Worker>()) {}

ComputeThreads::~ComputeThreads() = default;

void ComputeThreads::run(std::function<void()> work) {
  worker_->add(std::move(work));
}

void ComputeThreads::run_in_background(std::function<void()> work) {
  const std::scoped_lock lock(mutex_);
  if (!background_) {
    background_ = std::make_unique<Worker>(prefer_others);
  }
  background_->add(std::move(work));
}

TimePoint system_now() {
  return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

}  // namespace millwright::base
