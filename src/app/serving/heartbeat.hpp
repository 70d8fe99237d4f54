// Whether the loop still turns: a callback that never returns stops every controller, though the
// threads that answer requests go on.
#pragma once

#include "millwright/base/task.hpp"

#include <atomic>
#include <chrono>
#include <stop_token>

namespace millwright::app {

class Heartbeat {
 public:
  // A loop that has been silent for so long is stuck: no callback of a sound one comes near it.
  static constexpr auto kStuckAfter = std::chrono::seconds(60);

  explicit Heartbeat(base::Loop& loop) : loop_(loop), last_(loop.now()) {}

  // Beats once a second until `stop`. Loop thread only.
  base::Task<void> run(std::stop_token stop);
  // Any thread.
  bool is_stuck() const { return loop_.now() - last_.load() >= kStuckAfter; }

 private:
  base::Loop& loop_;
  std::atomic<base::TimePoint> last_;
};

}  // namespace millwright::app
