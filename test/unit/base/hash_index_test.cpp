#include "millwright/base/hash_index.hpp"

#include <gtest/gtest.h>

namespace millwright::base {
namespace {

TEST(HashIndex, FindsWhatWasPutHoweverHashesCollide) {
  HashIndex index;
  EXPECT_FALSE(index.contains(0));
  // All of them belong into the same slot of any small table.
  constexpr std::uint64_t kStep = std::uint64_t{1} << 32U;
  for (std::uint32_t i = 0; i < 1'000; ++i) {
    EXPECT_EQ(index.put(i * kStep, i), i);
  }
  EXPECT_EQ(index.size(), 1'000U);
  for (std::uint32_t i = 0; i < 1'000; ++i) {
    EXPECT_EQ(index.find(i * kStep), i);
    EXPECT_FALSE(index.contains(i * kStep + 1));
  }
}

TEST(HashIndex, AHashKeepsItsFirstNumber) {
  HashIndex index;
  EXPECT_EQ(index.put(7, 1), 1U);
  EXPECT_EQ(index.put(7, 2), 1U);
  EXPECT_EQ(index.find(7), 1U);
  EXPECT_EQ(index.size(), 1U);
}

}  // namespace
}  // namespace millwright::base
