// The only source of random numbers: seeded, passed in, the same sequence on every platform.
#pragma once

#include <cstdint>
#include <string>

namespace millwright::base {

// SplitMix64. Not for secrets. Not thread-safe: each owner has its own, usually through fork().
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next();
  // Uniform in [0, bound); 0 when bound is 0.
  std::uint64_t below(std::uint64_t bound);
  // Uniform in [0, 1).
  double unit();
  // `length` characters of Kubernetes' generateName alphabet (no vowels, no 0, 1, 3).
  std::string suffix(std::size_t length);
  // A version 4 UUID in text form.
  std::string uuid();
  // An independent source derived from this one.
  Random fork() { return Random(next()); }

 private:
  std::uint64_t state_;
};

// Seed from the operating system, for the one Random that `main` makes.
std::uint64_t entropy_seed();

}  // namespace millwright::base
