#include "schema/engine/access.hpp"

#include <cmath>
#include <limits>

namespace millwright::schema {

std::optional<std::int64_t> as_integer(const json::value* value) {
  if (value == nullptr) {
    return std::nullopt;
  }
  if (const std::int64_t* whole = value->if_int64()) {
    return *whole;
  }
  if (const std::uint64_t* large = value->if_uint64()) {
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return *large <= kMost ? std::optional(static_cast<std::int64_t>(*large)) : std::nullopt;
  }
  if (const double* real = value->if_double()) {
    constexpr double kExact = 9007199254740992.0;  // 2^53
    if (std::trunc(*real) == *real && std::abs(*real) <= kExact) {
      return static_cast<std::int64_t>(*real);
    }
  }
  return std::nullopt;
}

}  // namespace millwright::schema
