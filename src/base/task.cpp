#include "millwright/base/task.hpp"

#include <cstdio>
#include <cstdlib>

namespace millwright::base {
namespace {

// Cancels its timer when the waiting coroutine goes away.
class TimerGuard {
 public:
  TimerGuard(Loop& loop, TimerId id) : loop_(loop), id_(id) {}
  TimerGuard(const TimerGuard&) = delete;
  TimerGuard& operator=(const TimerGuard&) = delete;
  ~TimerGuard() { loop_.cancel(id_); }

 private:
  Loop& loop_;
  TimerId id_;
};

// Marks a wait as over when the waiting coroutine goes away, so that no signal is spent on it.
class WaitGuard {
 public:
  explicit WaitGuard(Promise<bool> promise) : promise_(std::move(promise)) {}
  WaitGuard(const WaitGuard&) = delete;
  WaitGuard& operator=(const WaitGuard&) = delete;
  ~WaitGuard() { promise_.set(false); }

 private:
  Promise<bool> promise_;
};

}  // namespace

// Coroutines take the loop by reference because a loop outlives everything that runs on it.
Task<bool> sleep(Loop& loop, Duration delay, std::stop_token stop) {
  if (stop.stop_requested()) {
    co_return false;
  }
  Promise<bool> promise(loop);
  const TimerGuard timer(loop, loop.after(delay, [promise] { promise.set(true); }));
  const std::stop_callback on_stop(stop, [promise] { promise.set(false); });
  co_return co_await promise.get();
}

Task<void> yield(Loop& loop) {
  Promise<bool> promise(loop);
  promise.set(true);
  co_await promise.get();
}

void Signal::notify() {
  // Those whose wait is over already must not swallow the signal.
  waiters_.remove_if([](const Promise<bool>& waiter) { return waiter.is_set(); });
  if (waiters_.empty()) {
    pending_ = true;
    return;
  }
  auto waiters = std::move(waiters_);
  waiters_.clear();
  for (const auto& waiter : waiters) {
    waiter.set(true);
  }
}

Task<bool> Signal::wait(std::stop_token stop, std::optional<Duration> timeout) {
  if (std::exchange(pending_, false)) {
    co_return true;
  }
  if (stop.stop_requested()) {
    co_return false;
  }
  Promise<bool> promise(loop_);
  waiters_.remove_if([](const Promise<bool>& waiter) { return waiter.is_set(); });
  waiters_.push_back(promise);
  const WaitGuard guard(promise);
  const std::stop_callback on_stop(stop, [promise] { promise.set(false); });
  std::optional<TimerGuard> timer;
  if (timeout) {
    timer.emplace(loop_, loop_.after(*timeout, [promise] { promise.set(false); }));
  }
  co_return co_await promise.get();
}

struct TaskGroup::State {
  State(Loop& l, FailureHandler handler) : loop(l), on_failure(std::move(handler)) {}

  // The outermost frame of a child; destroying its handle destroys the whole child.
  struct Child {
    struct promise_type {
      Child get_return_object() {
        return Child{std::coroutine_handle<promise_type>::from_promise(*this)};
      }
      std::suspend_always initial_suspend() const noexcept { return {}; }
      std::suspend_always final_suspend() const noexcept { return {}; }
      void return_void() const noexcept {}
      void unhandled_exception() const noexcept { std::terminate(); }
    };
    std::coroutine_handle<promise_type> handle;
  };

  static Child run(State* state, std::size_t id, Task<void> task) {
    try {
      co_await std::move(task);
    } catch (...) {
      state->on_failure(std::current_exception());
    }
    // The frame cannot destroy itself: the loop does, once it is suspended for good.
    state->loop.post([weak = state->self, id] {
      if (const auto group = weak.lock()) {
        group->finish(id);
      }
    });
  }

  void finish(std::size_t id) {
    const auto found = children.find(id);
    if (found == children.end()) {
      return;
    }
    const auto handle = found->second;
    children.erase(found);
    handle.destroy();
    if (children.empty()) {
      for (const auto& waiter : std::exchange(joiners, {})) {
        waiter.set(true);
      }
    }
  }

  Loop& loop;
  FailureHandler on_failure;
  std::weak_ptr<State> self;
  std::stop_source stop;
  std::size_t next_id = 0;
  std::map<std::size_t, std::coroutine_handle<>> children;
  std::list<Promise<bool>> joiners;
};

namespace {

void end_process(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "millwright: a task ended with an exception: %s\n", error.what());
  } catch (...) {
    std::fprintf(stderr, "millwright: a task ended with an unknown exception\n");
  }
  std::abort();
}

}  // namespace

TaskGroup::TaskGroup(Loop& loop, FailureHandler on_failure)
    : state_(std::make_shared<State>(
          loop, on_failure ? std::move(on_failure) : FailureHandler(end_process))) {
  state_->self = state_;
}

TaskGroup::~TaskGroup() {
  state_->stop.request_stop();
  auto children = std::move(state_->children);
  state_->children.clear();
  for (const auto& [id, handle] : children) {
    handle.destroy();
  }
}

void TaskGroup::spawn(Task<void> task) {
  const std::size_t id = state_->next_id++;
  const auto handle = State::run(state_.get(), id, std::move(task)).handle;
  state_->children.emplace(id, handle);
  state_->loop.post([weak = std::weak_ptr(state_), id] {
    const auto state = weak.lock();
    if (!state) {
      return;
    }
    const auto found = state->children.find(id);
    if (found != state->children.end()) {
      found->second.resume();
    }
  });
}

void TaskGroup::request_stop() {
  state_->stop.request_stop();
}
std::stop_token TaskGroup::stop_token() const {
  return state_->stop.get_token();
}
bool TaskGroup::empty() const {
  return state_->children.empty();
}

Task<void> TaskGroup::join() {
  if (state_->children.empty()) {
    co_return;
  }
  Promise<bool> promise(state_->loop);
  state_->joiners.push_back(promise);
  co_await promise.get();
}

Task<bool> TaskGroup::join_within(Duration limit) {
  if (state_->children.empty()) {
    co_return true;
  }
  Loop& loop = state_->loop;
  Promise<bool> promise(loop);
  state_->joiners.push_back(promise);
  const TimerId timer = loop.after(limit, [promise] { promise.set(false); });
  const bool ended = co_await promise.get();
  loop.cancel(timer);
  co_return ended;
}

}  // namespace millwright::base
