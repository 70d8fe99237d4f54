#include "millwright/base/money.hpp"

#include <fmt/format.h>

#include <cmath>

namespace millwright::base {

std::string format_price(double per_hour) {
  return std::abs(per_hour) < 999.5 ? fmt::format("${:.3g}/h", per_hour)
                                    : fmt::format("${:.0f}/h", per_hour);
}

}  // namespace millwright::base
