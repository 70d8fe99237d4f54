// Coroutines on a Loop. Asio's awaitables cost 2 s of compile time per file and know no virtual
// time.
//
// Rules: parameters by value; no capturing lambda as a coroutine; no co_await inside a conditional
// expression. A Task is lazy: nothing runs until it is awaited or spawned. Destroying a suspended
// Task (on its loop's thread) is safe: every awaitable here detaches in its destructor.
#pragma once

#include "millwright/base/loop.hpp"

#include <coroutine>
#include <cstdlib>
#include <exception>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>
#include <variant>

namespace millwright::base {

template <class T = void>
class Task;

namespace detail {

struct FinalAwaiter {
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> handle) const noexcept {
    return handle.promise().continuation;
  }
  void await_resume() const noexcept {}
};

struct TaskPromiseBase {
  // Set only when the awaiter is suspended.
  std::coroutine_handle<> continuation = std::noop_coroutine();
  std::suspend_always initial_suspend() const noexcept { return {}; }
  FinalAwaiter final_suspend() const noexcept { return {}; }
};

template <class T>
struct TaskPromise : TaskPromiseBase {
  std::variant<std::monostate, T, std::exception_ptr> outcome;
  Task<T> get_return_object();
  template <class U>
  void return_value(U&& value) {
    outcome.template emplace<1>(std::forward<U>(value));
  }
  void unhandled_exception() noexcept { outcome.template emplace<2>(std::current_exception()); }
  T take() {
    if (outcome.index() == 2) {
      std::rethrow_exception(std::get<2>(outcome));
    }
    return std::move(std::get<1>(outcome));
  }
};

template <>
struct TaskPromise<void> : TaskPromiseBase {
  std::exception_ptr error;
  Task<void> get_return_object();
  void return_void() const noexcept {}
  void unhandled_exception() noexcept { error = std::current_exception(); }
  void take() const {
    if (error) {
      std::rethrow_exception(error);
    }
  }
};

}  // namespace detail

template <class T>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::TaskPromise<T>;

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  ~Task() {
    if (handle_) {
      handle_.destroy();
    }
  }

  auto operator co_await() && noexcept {
    struct Awaiter {
      std::coroutine_handle<promise_type> handle;
      bool await_ready() const noexcept { return false; }
      // A child that finishes at once returns here instead of transferring back: builds without
      // tail calls (debug, sanitizers) would otherwise grow the stack with every such await.
      bool await_suspend(std::coroutine_handle<> waiter) const {
        handle.resume();
        if (handle.done()) {
          return false;
        }
        handle.promise().continuation = waiter;
        return true;
      }
      T await_resume() const { return handle.promise().take(); }
    };
    return Awaiter{handle_};
  }

 private:
  friend promise_type;
  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};

template <class T>
Task<T> detail::TaskPromise<T>::get_return_object() {
  return Task<T>(std::coroutine_handle<TaskPromise>::from_promise(*this));
}
inline Task<void> detail::TaskPromise<void>::get_return_object() {
  return Task<void>(std::coroutine_handle<TaskPromise>::from_promise(*this));
}

// The writing end of a value that a coroutine waits for. set() may be called once, from any
// thread; the waiter always resumes through the loop, never inside set(). A Promise destroyed
// without set() leaves its waiter waiting: give such waits a deadline.
template <class T>
class Promise {
 public:
  explicit Promise(Loop& loop) : state_(std::make_shared<State>(loop)) {}

  void set(T value) const {
    std::unique_lock lock(state_->mutex);
    if (state_->value) {
      return;
    }
    state_->value.emplace(std::move(value));
    if (state_->waiter) {
      lock.unlock();
      state_->loop.post([state = state_] { State::resume(state); });
    }
  }
  bool is_set() const {
    std::scoped_lock lock(state_->mutex);
    return state_->value.has_value();
  }

  // The reading end: co_await it once.
  auto get() const {
    struct Awaiter {
      std::shared_ptr<State> state;
      explicit Awaiter(std::shared_ptr<State> s) : state(std::move(s)) {}
      Awaiter(Awaiter&&) noexcept = default;
      Awaiter(const Awaiter&) = delete;
      Awaiter& operator=(const Awaiter&) = delete;
      Awaiter& operator=(Awaiter&&) = delete;
      ~Awaiter() {
        if (state) {
          std::scoped_lock lock(state->mutex);
          state->waiter = {};
        }
      }
      bool await_ready() const noexcept { return false; }
      bool await_suspend(std::coroutine_handle<> handle) const {
        std::unique_lock lock(state->mutex);
        state->waiter = handle;
        if (state->value) {
          lock.unlock();
          state->loop.post([s = state] { State::resume(s); });
        }
        return true;
      }
      T await_resume() const {
        auto& value = state->value;
        if (!value) {
          std::abort();  // set() alone resumes
        }
        return std::move(*value);
      }
    };
    return Awaiter(state_);
  }

 private:
  struct State {
    explicit State(Loop& l) : loop(l) {}
    static void resume(const std::shared_ptr<State>& state) {
      std::coroutine_handle<> handle;
      {
        std::scoped_lock lock(state->mutex);
        handle = std::exchange(state->waiter, {});
      }
      if (handle) {
        handle.resume();
      }
    }
    Loop& loop;
    std::mutex mutex;
    std::optional<T> value;
    std::coroutine_handle<> waiter;
  };
  std::shared_ptr<State> state_;
};

// Waits for `delay`. False when `stop` was requested before it was over.
Task<bool> sleep(Loop& loop, Duration delay, std::stop_token stop = {});

// Lets everything already posted run first.
Task<void> yield(Loop& loop);

enum class Urgency : std::uint8_t { Now, Background };  // Compute::run(), run_in_background()

// Runs `work` on `compute` and resumes on `loop` with its value.
template <class F>
Task<std::invoke_result_t<F>> offload(Loop& loop, Compute& compute, F work,
                                      Urgency urgency = Urgency::Now) {
  using T = std::invoke_result_t<F>;
  using Outcome = std::variant<std::exception_ptr, T>;
  Promise<Outcome> promise(loop);
  std::function<void()> task([promise, job = std::move(work)]() mutable {
    try {
      promise.set(Outcome(std::in_place_index<1>, job()));
    } catch (...) {
      promise.set(Outcome(std::in_place_index<0>, std::current_exception()));
    }
  });
  if (urgency == Urgency::Now) {
    compute.run(std::move(task));
  } else {
    compute.run_in_background(std::move(task));
  }
  auto outcome = co_await promise.get();
  if (outcome.index() == 0) {
    std::rethrow_exception(std::get<0>(outcome));
  }
  co_return std::move(std::get<1>(outcome));
}

// Wakes a waiting coroutine. A notify() that comes before wait() is remembered. Loop thread only.
class Signal {
 public:
  explicit Signal(Loop& loop) : loop_(loop) {}
  void notify();
  // False when `stop` was requested, or `timeout` passed, first.
  Task<bool> wait(std::stop_token stop, std::optional<Duration> timeout = std::nullopt);

 private:
  Loop& loop_;
  bool pending_ = false;
  std::list<Promise<bool>> waiters_;
};

// Child tasks that live no longer than their group. request_stop() asks every child to stop, join()
// waits for the last of them. Destroying the group destroys the tasks that still run. An exception
// that leaves a task is a bug: it goes to `on_failure`, which by default ends the process with the
// exception's message. Loop thread only.
class TaskGroup {
 public:
  using FailureHandler = std::function<void(std::exception_ptr)>;
  explicit TaskGroup(Loop& loop, FailureHandler on_failure = {});
  ~TaskGroup();
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  // The task starts on a later turn of the loop, not inside this call.
  void spawn(Task<void> task);
  void request_stop();
  std::stop_token stop_token() const;
  bool empty() const;
  Task<void> join();
  // False when some still run after `limit`.
  Task<bool> join_within(Duration limit);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace millwright::base
