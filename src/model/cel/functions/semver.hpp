// Semantic versions (semver.org, 2.0.0) and their precedence.
#pragma once

#include "millwright/base/result.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::model::cel {

struct Semver {
  std::array<std::int64_t, 3> numbers{};  // major, minor, patch
  std::vector<std::string> prerelease;
  // Kubernetes allows 64 characters in attributes.
  static constexpr std::size_t kMostLength = 256;
  // What follows a "+" has no part in precedence and is not kept.

  static base::Result<Semver> parse(std::string_view text);
  // "v1.02" as 1.2.0: without the v and leading zeros, with the numbers that are missing.
  static base::Result<Semver> parse_tolerantly(std::string_view text);

  friend std::strong_ordering operator<=>(const Semver& a, const Semver& b);
  friend bool operator==(const Semver& a, const Semver& b) { return std::is_eq(a <=> b); }
};

}  // namespace millwright::model::cel
