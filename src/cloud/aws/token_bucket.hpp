// How fast one API may be called. Pure: the time is an argument.
#pragma once

#include "millwright/base/time.hpp"

namespace millwright::cloud::aws {

struct Rate {
  double per_second = 20;
  double burst = 100;
};

class TokenBucket {
 public:
  TokenBucket(Rate rate, base::TimePoint now) : rate_(rate), tokens_(rate.burst), at_(now) {}

  // Takes one token and says how long to wait until it is there; callers are served in order.
  base::Duration take(base::TimePoint now);
  // The other side says that it is too much: what was saved up is gone.
  void drain(base::TimePoint now);

 private:
  void refill(base::TimePoint now);
  Rate rate_;
  double tokens_;  // below zero: promised to those who wait
  base::TimePoint at_;
};

}  // namespace millwright::cloud::aws
