// Limits the rate of calls to one API. Pure: the time is an argument.
#pragma once

#include "millwright/base/time.hpp"

namespace millwright::cloud {

struct Rate {
  double per_second = 20;
  double burst = 100;
};

class TokenBucket {
 public:
  TokenBucket(Rate rate, base::TimePoint now) : rate_(rate), tokens_(rate.burst), at_(now) {}

  // Takes one token and returns how long to wait for it; callers are served in order.
  base::Duration take(base::TimePoint now);
  // The cloud throttled a call: discards the tokens that were saved up.
  void drain(base::TimePoint now);

 private:
  void refill(base::TimePoint now);
  Rate rate_;
  double tokens_;  // negative: callers are waiting for as many
  base::TimePoint at_;
};

}  // namespace millwright::cloud
