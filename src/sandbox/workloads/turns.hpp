// Who acts next when only so many acts a second are allowed. Keys take turns, one act each, as many
// workers do that share the rate limit of one client. Loop thread only.
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
  // `act` says whether the key wants another turn.
  Turns(base::Loop& loop, double per_second, std::function<bool(const model::ObjectKey&)> act)
      : loop_(loop),
        interval_(static_cast<base::Duration::rep>(1e9 / per_second)),
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
      timer_ = loop_.at(std::max(loop_.now(), next_), [this] { take(); });
    }
  }

  void take() {
    timer_.reset();
    const auto key = waiting_.front();
    waiting_.pop_front();
    next_ = loop_.now() + interval_;
    if (act_(key)) {
      ask(key);
    }
    schedule();
  }

  base::Loop& loop_;
  base::Duration interval_;
  std::function<bool(const model::ObjectKey&)> act_;
  std::deque<model::ObjectKey> waiting_;
  base::TimePoint next_;
  std::optional<base::TimerId> timer_;
};

}  // namespace millwright::sandbox
