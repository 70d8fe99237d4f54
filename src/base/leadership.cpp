#include "millwright/base/leadership.hpp"

namespace millwright::base {

Leadership::~Leadership() {
  if (timer_set_) {
    loop_.cancel(timer_);
  }
}

void Leadership::begin(TimePoint until) {
  end();
  over_ = std::stop_source();
  term_.fetch_add(1, std::memory_order_relaxed);
  until_.store(until.time_since_epoch().count(), std::memory_order_relaxed);
  watch();
}

bool Leadership::extend(TimePoint until) {
  if (!holds()) {
    end();
    return false;
  }
  until_.store(until.time_since_epoch().count(), std::memory_order_relaxed);
  watch();
  return true;
}

void Leadership::end() {
  until_.store(TimePoint::min().time_since_epoch().count(), std::memory_order_relaxed);
  if (timer_set_) {
    loop_.cancel(timer_);
    timer_set_ = false;
  }
  over_.request_stop();
}

bool Leadership::holds() const {
  return loop_.now().time_since_epoch().count() < until_.load(std::memory_order_relaxed);
}

std::stop_token Leadership::over() const {
  if (over_.stop_possible()) {
    return over_.get_token();
  }
  std::stop_source none;
  none.request_stop();
  return none.get_token();
}

// A call that is under way when the term ends must be given up by somebody.
void Leadership::watch() {
  if (timer_set_) {
    loop_.cancel(timer_);
  }
  const TimePoint until{Duration(until_.load(std::memory_order_relaxed))};
  timer_set_ = until != kForEver;
  if (timer_set_) {
    timer_ = loop_.at(until, [this] {
      timer_set_ = false;
      end();
    });
  }
}

}  // namespace millwright::base
