// SIGINT and SIGTERM as a callback.
#pragma once

#include <functional>
#include <memory>

namespace millwright::app {

// Blocks the two signals for every thread started afterwards and calls `on_signal` on a thread of
// its own, each time one arrives. Make one, first thing in main.
class Signals {
 public:
  explicit Signals(std::function<void(int signal)> on_signal);
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millwright::app
