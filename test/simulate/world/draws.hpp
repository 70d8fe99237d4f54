// Random times of a simulated world.
#pragma once

#include "millwright/base/random.hpp"
#include "millwright/base/time.hpp"

#include <chrono>
#include <cstdint>

namespace millwright::test {

// Up to `most`, to the microsecond.
inline base::Duration draw_up_to(base::Random& random, base::Duration most) {
  const auto whole = std::chrono::duration_cast<std::chrono::microseconds>(most).count();
  return std::chrono::microseconds(random.below(static_cast<std::uint64_t>(whole) + 1));
}

}  // namespace millwright::test
