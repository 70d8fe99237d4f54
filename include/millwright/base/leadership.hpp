// Whether this process may write. Of several replicas one leads, for one term after another, and a
// term ends by itself unless it is extended. So a process that was stopped or cut off knows without
// asking anybody that its term is over.
#pragma once

#include "millwright/base/loop.hpp"

#include <atomic>
#include <cstdint>
#include <stop_token>
#include <utility>

namespace millwright::base {

class Leadership {
 public:
  // Nobody leads yet. `loop` outlives the object.
  explicit Leadership(Loop& loop) : loop_(loop) {}
  ~Leadership();
  Leadership(const Leadership&) = delete;
  Leadership& operator=(const Leadership&) = delete;

  // A term that needs no extension: of a replica that is alone.
  static constexpr TimePoint kForEver = TimePoint::max();

  // Loop thread only, and for the election alone:
  // A new term, until `until`. The one before must be over.
  void begin(TimePoint until);
  // The same term for longer. False when it is over already: what is over does not come back.
  bool extend(TimePoint until);
  // The term is over now.
  void end();

  // Any thread. By the loop's clock: true until the very moment at which the term may be over.
  bool holds() const;
  // Any thread. The number of this process' terms so far; 0 before the first.
  std::uint64_t term() const { return term_.load(std::memory_order_relaxed); }

  // Loop thread only. Fires when the present term is over; one that has fired when there is none.
  std::stop_token over() const;

 private:
  void watch();

  Loop& loop_;
  std::atomic<TimePoint::rep> until_{TimePoint::min().time_since_epoch().count()};
  std::atomic<std::uint64_t> term_{0};
  std::stop_source over_{std::nostopstate};
  TimerId timer_ = 0;
  bool timer_set_ = false;
};

// A stop token that fires when either of two does.
class EitherStop {
 public:
  EitherStop(std::stop_token first, std::stop_token second)
      : first_(std::move(first), Fire{source_}), second_(std::move(second), Fire{source_}) {}
  EitherStop(const EitherStop&) = delete;
  EitherStop& operator=(const EitherStop&) = delete;

  std::stop_token token() const { return source_.get_token(); }

 private:
  struct Fire {
    std::stop_source source;
    void operator()() { source.request_stop(); }
  };

  std::stop_source source_;
  std::stop_callback<Fire> first_;
  std::stop_callback<Fire> second_;
};

}  // namespace millwright::base
