// Some seeds of the simulator, and that a seed is one run.

#include "simulate/world/world.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace millwright::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

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

// The smallest schedules of what the simulator has found.
Schedule small_world(std::vector<Step> steps) {
  Schedule schedule;
  schedule.replicas = 1;
  schedule.bind_latency = milliseconds(5);
  schedule.launch = seconds(5);
  schedule.boot = seconds(10);
  schedule.ready = seconds(1);
  schedule.consolidate_after = seconds(20);
  schedule.steps = std::move(steps);
  return schedule;
}

TEST(Found, ANodeWhoseClaimWasTakenByForceGoesThoughTheLeaderChangesMeanwhile) {
  const auto schedule = small_world(
      {{.at = seconds(1), .act = Act::Deploy, .which = 3, .amount = 2, .lasts = {}},
       {.at = seconds(60), .act = Act::ForceClaim, .which = 0, .amount = 0, .lasts = {}},
       {.at = seconds(62), .act = Act::Stop, .lasts = seconds(1)}});
  for (const auto& violation : simulate(schedule).violations) {
    ADD_FAILURE() << violation.check << ": " << violation.what;
  }
}

TEST(Found, AMachineThatIsTakenBackBeforeItsLaunchIsOnRecordIsGivenUp) {
  const auto schedule = small_world(
      {{.at = seconds(1), .act = Act::Deploy, .which = 3, .amount = 2, .lasts = {}},
       {.at = seconds(2), .act = Act::LateCommit, .amount = 100, .lasts = seconds(60)},
       {.at = seconds(2), .act = Act::LateWatches, .amount = 8'000, .lasts = seconds(60)},
       {.at = seconds(10), .act = Act::Interrupt, .which = 0, .amount = 0, .lasts = {}}});
  for (const auto& violation : simulate(schedule).violations) {
    ADD_FAILURE() << violation.check << ": " << violation.what;
  }
}

INSTANTIATE_TEST_SUITE_P(Few, Seeds, testing::Range(std::uint64_t{1}, std::uint64_t{21}));

}  // namespace
}  // namespace millwright::test
