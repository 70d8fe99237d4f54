// Some seeds of the simulator, and that a seed is one run.

#include "simulate/world/world.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace millwright::test {
namespace {

TEST(Simulator, OneSeedIsOneRun) {
  for (const std::uint64_t seed : {3U, 8U}) {
    const auto once = simulate(draw(seed));
    const auto again = simulate(draw(seed));
    EXPECT_EQ(once.trace, again.trace) << "seed " << seed;
    EXPECT_EQ(once.lasted, again.lasted) << "seed " << seed;
    EXPECT_NE(once.trace, simulate(draw(seed + 1)).trace);
  }
}

TEST(Simulator, SeedsDrawDifferentTroubleAndEndItInTime) {
  std::set<Act> acts;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    for (const Step& step : draw(seed).steps) {
      acts.insert(step.act);
      EXPECT_LE(step.at + step.lasts, kTrouble) << to_string(step);
    }
  }
  EXPECT_EQ(acts.size(), static_cast<std::size_t>(kActs));
}

class Seeds : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Seeds, KeepEveryPromise) {
  const Schedule schedule = draw(GetParam());
  for (const auto& violation : simulate(schedule).violations) {
    ADD_FAILURE() << violation.check << ": " << violation.what << "\n" << to_string(schedule);
  }
}

INSTANTIATE_TEST_SUITE_P(Few, Seeds, testing::Range(std::uint64_t{1}, std::uint64_t{21}));

}  // namespace
}  // namespace millwright::test
