#include "cloud/common/pace/token_bucket.hpp"

#include <algorithm>

namespace millwright::cloud {

void TokenBucket::refill(base::TimePoint now) {
  const std::chrono::duration<double> passed = now - at_;
  at_ = now;
  tokens_ = std::min(rate_.burst, tokens_ + std::max(passed.count(), 0.0) * rate_.per_second);
}

base::Duration TokenBucket::take(base::TimePoint now) {
  refill(now);
  tokens_ -= 1;
  if (tokens_ >= 0) {
    return {};
  }
  return std::chrono::duration_cast<base::Duration>(
      std::chrono::duration<double>(-tokens_ / rate_.per_second));
}

void TokenBucket::drain(base::TimePoint now) {
  refill(now);
  tokens_ = std::min(tokens_, 0.0);
}

}  // namespace millwright::cloud
