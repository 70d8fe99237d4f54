// Backoff, the client-side limits and deadlines, by the loop's clock, so that they also work in
// virtual time. Loop thread only.
#pragma once

#include "millwright/base/loop.hpp"
#include "millwright/base/random.hpp"
#include "millwright/base/task.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

namespace millwright::kube {

// Doubling delays between `min` and `max`, each shortened at random by up to a half, so that the
// clients of a failed server do not all return at once.
class Backoff {
 public:
  Backoff(base::Duration min, base::Duration max) : min_(min), max_(max), next_(min) {}

  base::Duration next(base::Random& random) {
    const auto delay = std::min(next_, max_);
    next_ = std::min(delay * 2, max_);
    const double share = 0.5 + random.unit() / 2;
    return base::Duration(
        static_cast<base::Duration::rep>(static_cast<double>(delay.count()) * share));
  }
  void reset() { next_ = min_; }

 private:
  base::Duration min_;
  base::Duration max_;
  base::Duration next_;
};

// A token bucket: take() says how long to wait before the call.
class TokenBucket {
 public:
  // `per_second` of zero or less: no limit.
  TokenBucket(double per_second, double burst)
      : per_second_(per_second), burst_(std::max(burst, 1.0)), tokens_(burst_) {}

  base::Duration take(base::TimePoint now) {
    if (per_second_ <= 0) {
      return {};
    }
    refill(now);
    tokens_ -= 1;
    if (tokens_ >= 0) {
      return {};
    }
    const double seconds = -tokens_ / per_second_;
    return std::chrono::duration_cast<base::Duration>(std::chrono::duration<double>(seconds));
  }
  // For a caller that gave up waiting.
  void give_back() { tokens_ = std::min(burst_, tokens_ + 1); }

 private:
  void refill(base::TimePoint now) {
    if (last_ && now > *last_) {
      const std::chrono::duration<double> passed = now - *last_;
      tokens_ = std::min(burst_, tokens_ + passed.count() * per_second_);
    }
    last_ = now;
  }

  double per_second_;
  double burst_;
  double tokens_;
  std::optional<base::TimePoint> last_;
};

// So many at once; others wait for their turn, in the order in which they came.
class Places : public std::enable_shared_from_this<Places> {
 public:
  // Held while it lives.
  using Place = std::shared_ptr<void>;

  Places(base::Loop& loop, std::size_t count) : loop_(loop), free_(count) {}

  // Null when `stop` was requested first.
  base::Task<Place> take(std::stop_token stop) {
    if (stop.stop_requested()) {
      co_return nullptr;
    }
    if (free_ > 0) {
      --free_;
      co_return make_place();
    }
    const auto waiter = std::make_shared<Waiter>(Waiter{base::Promise<bool>(loop_), nullptr});
    waiting_.push_back(waiter);
    const std::stop_callback on_stop(std::move(stop), [waiter] { waiter->turn.set(false); });
    co_await waiter->turn.get();
    co_return std::move(waiter->place);
  }

 private:
  // It goes with its task, and a place that it was given in vain goes on to the next.
  struct Waiter {
    base::Promise<bool> turn;
    Place place;
  };

  Place make_place() {
    return {this, [places = shared_from_this()](void*) { places->pass_on(); }};
  }
  void pass_on() {
    while (!waiting_.empty()) {
      const auto next = waiting_.front().lock();
      waiting_.pop_front();
      if (next != nullptr && !next->turn.is_set()) {
        next->place = make_place();
        next->turn.set(true);
        return;
      }
    }
    ++free_;
  }

  base::Loop& loop_;
  std::size_t free_;
  std::deque<std::weak_ptr<Waiter>> waiting_;
};

// A stop token that fires when the outer one does, when time is up, or by hand.
class Deadline {
 public:
  Deadline(base::Loop& loop, std::stop_token outer, base::Duration delay)
      : loop_(loop),
        end_(loop.now() + delay),
        timer_(loop.at(end_, Fire{source_})),
        link_(std::move(outer), Fire{source_}) {}
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  ~Deadline() { loop_.cancel(timer_); }

  std::stop_token token() const { return source_.get_token(); }
  bool passed() const { return loop_.now() >= end_; }
  void stop() { source_.request_stop(); }

 private:
  struct Fire {
    std::stop_source source;
    void operator()() { source.request_stop(); }
  };

  base::Loop& loop_;
  base::TimePoint end_;
  std::stop_source source_;
  base::TimerId timer_;
  std::stop_callback<Fire> link_;
};

}  // namespace millwright::kube
