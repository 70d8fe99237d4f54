// How often something may be said: so many a second, and some more at once after a silence.
#pragma once

#include "millwright/base/time.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

namespace millwright::controllers {

class Pace {
 public:
  Pace(double per_second, double burst) : per_second_(per_second), burst_(burst), tokens_(burst) {}

  // False: not now.
  bool take(base::TimePoint now) {
    if (last_ && now > *last_) {
      const std::chrono::duration<double> passed = now - *last_;
      tokens_ = std::min(burst_, tokens_ + passed.count() * per_second_);
    }
    last_ = now;
    const bool taken = tokens_ >= 1;
    tokens_ -= taken ? 1 : 0;
    return taken;
  }

 private:
  double per_second_;
  double burst_;
  double tokens_;
  std::optional<base::TimePoint> last_;
};

}  // namespace millwright::controllers
