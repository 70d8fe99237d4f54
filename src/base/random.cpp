#include "millwright/base/random.hpp"

#include <array>
#include <cstdio>
#include <random>
#include <string_view>

namespace millwright::base {

std::uint64_t Random::next() {
  state_ += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

std::uint64_t Random::below(std::uint64_t bound) {
  if (bound == 0) {
    return 0;
  }
  // Rejecting the incomplete last interval keeps every value equally likely.
  const std::uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
  std::uint64_t value = next();
  while (value >= limit) {
    value = next();
  }
  return value % bound;
}

double Random::unit() {
  return static_cast<double>(next() >> 11) * 0x1.0p-53;
}

std::string Random::suffix(std::size_t length) {
  static constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string text(length, ' ');
  for (char& c : text) {
    c = kAlphabet[below(kAlphabet.size())];
  }
  return text;
}

std::string Random::uuid() {
  const std::uint64_t high = (next() & ~0xf000ULL) | 0x4000ULL;
  const std::uint64_t low = (next() & ~(3ULL << 62)) | (2ULL << 62);
  std::array<char, 37> text{};
  std::snprintf(text.data(), text.size(), "%08x-%04x-%04x-%04x-%012llx",
                static_cast<unsigned>(high >> 32), static_cast<unsigned>(high >> 16) & 0xffffU,
                static_cast<unsigned>(high) & 0xffffU, static_cast<unsigned>(low >> 48),
                static_cast<unsigned long long>(low & 0xffffffffffffULL));
  return std::string(text.data(), 36);
}

std::uint64_t entropy_seed() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32) | device();
}

}  // namespace millwright::base
