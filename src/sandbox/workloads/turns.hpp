// Who acts next when only so many acts a second are allowed. Keys take turns, one act each, as many
// workers do that share the rate limit of one client. After a pause `burst` acts may come at once,
// as client-go's limit lets them. Loop thread only.
#pragma once

#include "millwright/base/loop.hpp"
#include "millwright/model/meta.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <utility>

namespace millwright::sandbox {

class Turns {
 public:
  struct Rate {
    double per_second = 1;
    int burst = 1;  // at least one
  };
  // `act` says whether the key wants another turn.
  Turns(base::Loop& loop, Rate rate, std::function<bool(const model::ObjectKey&)> act)
      : loop_(loop),
        interval_(static_cast<base::Duration::rep>(1e9 / rate.per_second)),
        ahead_(interval_ * (rate.burst - 1)),
        act_(std::move(act)) {}
  ~Turns() {
    if (timer_) {
      loop_.cancel(*timer_);
    }
  }
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  // Once for any number of calls before its turn.
  void ask(const model::ObjectKey& key) {
    if (std::find(waiting_.begin(), waiting_.end(), key) == waiting_.end()) {
      waiting_.push_back(key);
    }
    schedule();
  }

 private:
  void schedule() {
    if (!timer_ && !waiting_.empty()) {
      timer_ = loop_.at(std::max(loop_.now(), next_ - ahead_), [this] { take(); });
    }
  }

  void take() {
    timer_.reset();
    const auto key = waiting_.front();
    waiting_.pop_front();
    next_ = std::max(loop_.now(), next_) + interval_;
    if (act_(key)) {
      ask(key);
    }
    schedule();
  }

  base::Loop& loop_;
  base::Duration interval_;
  base::Duration ahead_;  // how much sooner than its time an act may come
  std::function<bool(const model::ObjectKey&)> act_;
  std::deque<model::ObjectKey> waiting_;
  base::TimePoint next_;  // when the next act comes that is not ahead of its time
  std::optional<base::TimerId> timer_;
};

}  // namespace millwright::sandbox
