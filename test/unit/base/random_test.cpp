#include "millwright/base/random.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace millwright::base {
namespace {

TEST(Random, IsSplitMix64) {
  Random random(1234567);
  const std::array<std::uint64_t, 5> expected{6457827717110365317ULL, 3203168211198807973ULL,
                                              9817491932198370423ULL, 4593380528125082431ULL,
                                              16408922859458223821ULL};
  for (const std::uint64_t value : expected) {
    EXPECT_EQ(random.next(), value);
  }
}

TEST(Random, BelowStaysBelowAndReachesEveryValue) {
  Random random(1);
  std::array<int, 7> seen{};
  for (int i = 0; i < 7000; ++i) {
    const std::uint64_t value = random.below(seen.size());
    ASSERT_LT(value, seen.size());
    ++seen[value];
  }
  for (const int count : seen) {
    EXPECT_GT(count, 800);
  }
  EXPECT_EQ(random.below(0), 0);
  EXPECT_EQ(random.below(1), 0);
}

TEST(Random, UnitLiesBetweenZeroAndOne) {
  Random random(2);
  double sum = 0;
  for (int i = 0; i < 1000; ++i) {
    const double value = random.unit();
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 1);
    sum += value;
  }
  EXPECT_NEAR(sum / 1000, 0.5, 0.05);
}

TEST(Random, SuffixUsesTheAlphabetOfGenerateName) {
  Random random(3);
  const std::string text = random.suffix(500);
  EXPECT_EQ(text.size(), 500);
  EXPECT_EQ(text.find_first_not_of("bcdfghjklmnpqrstvwxz2456789"), std::string::npos);
  EXPECT_GT(std::set<char>(text.begin(), text.end()).size(), 20);
}

TEST(Random, UuidIsOfVersionFour) {
  Random random(4);
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const std::string uuid = random.uuid();
    ASSERT_EQ(uuid.size(), 36);
    EXPECT_EQ(uuid.find_first_not_of("0123456789abcdef-"), std::string::npos);
    EXPECT_EQ(uuid[8], '-');
    EXPECT_EQ(uuid[13], '-');
    EXPECT_EQ(uuid[14], '4');
    EXPECT_NE(std::string("89ab").find(uuid[19]), std::string::npos);
    seen.insert(uuid);
  }
  EXPECT_EQ(seen.size(), 100);
}

TEST(Random, ForkGivesAnotherSequenceThatTheSeedFixes) {
  Random first(5);
  Random second(5);
  Random fork = first.fork();
  EXPECT_EQ(fork.next(), second.fork().next());
  EXPECT_EQ(first.next(), second.next());
  EXPECT_NE(fork.next(), first.next());
}

}  // namespace
}  // namespace millwright::base
