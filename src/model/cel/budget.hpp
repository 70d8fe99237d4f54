// What an evaluation may still cost. Expressions come from users, and a comprehension in another
// multiplies: the budget ends them. What makes or reads long text or lists pays for their length,
// so the budget bounds memory too.
#pragma once

#include "millwright/base/result.hpp"

#include <cstddef>

namespace millwright::model::cel {

class Budget {
 public:
  // Kubernetes' limit for these expressions, in units that are close to its own.
  static constexpr std::size_t kMost = 1'000'000;

  // False once the budget is spent, from then on always.
  [[nodiscard]] bool spend(std::size_t steps) {
    left_ = steps < left_ ? left_ - steps : 0;
    return left_ > 0;
  }
  bool is_spent() const { return left_ == 0; }

 private:
  std::size_t left_ = kMost;
};

inline tl::unexpected<base::Error> too_costly() {
  return base::fail(base::ErrorKind::Invalid, "the expression costs too much");
}

}  // namespace millwright::model::cel
