// The event loop: one thread with a clock and timers. Cluster state and every controller run on it.
// A RealLoop follows the wall clock, if wanted faster (ten minutes in twenty seconds). A
// VirtualLoop jumps to the next timer: a day takes milliseconds, and a seed determines the run.
#pragma once

#include "millwright/base/time.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

namespace millwright::base {

using TimerId = std::uint64_t;

// All member functions may be called from any thread; callbacks run on the loop's own thread,
// one at a time, in the order posted (timers: in the order of their times, then of creation).
class Loop {
 public:
  Loop() = default;
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  virtual ~Loop() = default;

  // Wall-clock time that never goes backwards.
  virtual TimePoint now() const = 0;
  virtual void post(std::function<void()> callback) = 0;
  virtual TimerId at(TimePoint time, std::function<void()> callback) = 0;
  // Does nothing when the timer has fired or was cancelled already.
  virtual void cancel(TimerId timer) = 0;

  TimerId after(Duration delay, std::function<void()> callback) {
    return at(now() + delay, std::move(callback));
  }
};

// Single-threaded: callbacks run inside run_*(). Calls from other threads are not allowed.
class VirtualLoop final : public Loop {
 public:
  explicit VirtualLoop(TimePoint start);
  ~VirtualLoop() override;

  TimePoint now() const override;
  void post(std::function<void()> callback) override;
  TimerId at(TimePoint time, std::function<void()> callback) override;
  void cancel(TimerId timer) override;

  // Runs what is due, jumping from timer to timer, until `time` is reached.
  void run_until(TimePoint time);
  void run_for(Duration duration) { run_until(now() + duration); }
  // Runs until `done` holds (checked after each callback) or `limit` has passed; says which.
  bool run_until(const std::function<bool()>& done, Duration limit);
  // Runs posted callbacks without moving time.
  void run_ready();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Runs on the thread that calls run(). `scale` is how many seconds of loop time pass in a real
// second; now() starts at `start` and follows the time since the machine's boot from there, which
// goes on while it is suspended.
class RealLoop final : public Loop {
 public:
  explicit RealLoop(double scale = 1.0);
  RealLoop(double scale, TimePoint start);
  ~RealLoop() override;

  TimePoint now() const override;
  void post(std::function<void()> callback) override;
  TimerId at(TimePoint time, std::function<void()> callback) override;
  void cancel(TimerId timer) override;

  // Returns after stop(); callbacks posted later are dropped.
  void run();
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Where long computations run, such as the planner: on threads of their own, or at once on the
// caller's when time is virtual.
class Compute {
 public:
  virtual ~Compute() = default;
  // Calls `work` once, on any thread.
  virtual void run(std::function<void()> work) = 0;
  // The same for work that nobody is in a hurry for. What run() is given never waits for it.
  virtual void run_in_background(std::function<void()> work) = 0;
};

class InlineCompute final : public Compute {
 public:
  void run(std::function<void()> work) override { work(); }
  void run_in_background(std::function<void()> work) override { work(); }
};

// Two worker threads, one of them for the background; each runs its work in order. The system
// prefers every other thread of the process to that of the background, which starts with its first
// work. The destructor finishes what was queued.
class ComputeThreads final : public Compute {
 public:
  ComputeThreads();
  ~ComputeThreads() override;
  void run(std::function<void()> work) override;
  void run_in_background(std::function<void()> work) override;

 private:
  class Worker;
  std::unique_ptr<Worker> worker_;
  std::mutex mutex_;  // of the pointer below
  std::unique_ptr<Worker> background_;
};

// The machine's wall clock, for code that runs on no loop (certificate files, start-up).
TimePoint system_now();

}  // namespace millwright::base
