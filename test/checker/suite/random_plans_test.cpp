// Every plan is legal and misses nobody, whatever the problem. PLANS=100000 looks at more problems,
// SEED=7 PLANS=1 at a single one.
#include "checker/plan/checker.hpp"
#include "checker/plan/random_world.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace millwright::checker {
namespace {

std::uint32_t plans_setting(const char* name, std::uint32_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10));
}

void expect_legal_plans(scheduling::Problem (*make)(std::uint32_t seed), std::uint32_t count) {
  const std::uint32_t first = plans_setting("SEED", 1);
  std::size_t placed = 0;
  std::size_t pods = 0;
  int shown = 0;
  for (std::uint32_t seed = first; seed < first + count; ++seed) {
    const scheduling::Problem problem = make(seed);
    const scheduling::Plan plan = scheduling::solve(problem);
    pods += problem.pods.size();
    placed += plan.placements.size();
    auto found = violations(problem, plan, {.seed = seed});
    if (found.empty()) {
      found = missed(problem, plan);
    }
    if (!found.empty()) {
      ADD_FAILURE() << "SEED=" << seed << " (" << problem.pods.size() << " pods): " << found.front()
                    << (found.size() > 1 ? " and more" : "")
                    << (count == 1 ? "\n" + describe(problem, plan) : std::string());
      if (++shown == 20) {
        break;
      }
    }
  }
  testing::Test::RecordProperty("pods", static_cast<int>(pods));
  testing::Test::RecordProperty("placed", static_cast<int>(placed));
  // A planner that refuses everything would pass the rest.
  EXPECT_GT(placed * 2, pods);
}

TEST(RandomPlans, AreLegalAndMissNobody) {
  expect_legal_plans(random_world, plans_setting("PLANS", 10'000));
}

TEST(RandomPlans, KeepAttachLimitsOfMachinesToBuy) {
  expect_legal_plans(random_world_with_volume_limits, plans_setting("PLANS", 4'000));
}

TEST(RandomPlans, GiveEachPodDevicesOfItsOwn) {
  expect_legal_plans(random_world_with_devices, plans_setting("PLANS", 4'000));
}

}  // namespace
}  // namespace millwright::checker
