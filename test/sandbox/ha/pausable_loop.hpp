// One replica's loop: what is due while its process is stopped (SIGSTOP) runs when it goes on. The
// clock goes on meanwhile. It may be ahead of everybody else's, or behind. Once the process has
// ended nothing runs any more.
#pragma once

#include "millwright/base/loop.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <utility>

namespace millwright::test {

class PausableLoop final : public base::Loop {
 public:
  explicit PausableLoop(base::Loop& inner, base::Duration ahead = {})
      : inner_(inner), ahead_(ahead) {}

  base::TimePoint now() const override { return inner_.now() + ahead_; }
  void post(std::function<void()> callback) override {
    inner_.post([this, callback = std::move(callback)] { run(0, callback); });
  }
  base::TimerId at(base::TimePoint time, std::function<void()> callback) override {
    const auto id = std::make_shared<base::TimerId>(0);
    *id = inner_.at(time - ahead_,
                    [this, id, callback = std::move(callback)] { run(*id, callback); });
    return *id;
  }
  void cancel(base::TimerId timer) override {
    inner_.cancel(timer);
    std::erase_if(held_, [timer](const auto& one) { return timer != 0 && one.first == timer; });
  }

  void pause() { paused_ = true; }
  // In the order in which it was due.
  void go_on() {
    paused_ = false;
    inner_.post([this] { run_held(); });
  }
  bool paused() const { return paused_; }
  void end() {
    ended_ = true;
    held_.clear();
  }
  std::uint64_t callbacks() const { return callbacks_; }

 private:
  void run(base::TimerId timer, const std::function<void()>& callback) {
    if (ended_) {
      return;
    }
    if (paused_ || !held_.empty()) {
      held_.emplace_back(timer, callback);
    } else {
      ++callbacks_;
      callback();
    }
  }
  void run_held() {
    while (!paused_ && !held_.empty()) {
      const auto callback = std::move(held_.front().second);
      held_.pop_front();
      ++callbacks_;
      callback();
    }
  }

  base::Loop& inner_;
  base::Duration ahead_;
  bool paused_ = false;
  bool ended_ = false;
  std::uint64_t callbacks_ = 0;
  std::deque<std::pair<base::TimerId, std::function<void()>>> held_;
};

}  // namespace millwright::test
