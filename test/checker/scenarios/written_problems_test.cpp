#include "checker/files/scenario.hpp"
#include "checker/plan/random_world.hpp"

#include <gtest/gtest.h>

namespace millwright::checker {
namespace {

double price(const scheduling::Plan& plan) {
  double sum = 0;
  for (const auto& claim : plan.claims) {
    sum += claim.price;
  }
  return sum;
}

// Compared by what the planner makes of both: every field that matters to it must have survived.
TEST(WrittenProblems, AreReadBackAsTheyWere) {
  for (std::uint32_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    scheduling::Problem made = random_world(seed);
    made.kept.clear();
    const auto read = read_scenario(write_scenario(made, "a random problem"));
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_EQ(read->title, "a random problem");
    const auto before = scheduling::solve(made);
    const auto after = scheduling::solve(read->problem);
    EXPECT_EQ(before.refusals.size(), after.refusals.size());
    EXPECT_EQ(before.claims.size(), after.claims.size());
    EXPECT_DOUBLE_EQ(price(before), price(after));
    ASSERT_EQ(before.placements.size(), after.placements.size());
    for (std::size_t i = 0; i < before.placements.size(); ++i) {
      EXPECT_EQ(before.placements[i].pod_uid, after.placements[i].pod_uid);
      EXPECT_EQ(before.placements[i].target, after.placements[i].target);
    }
  }
}

TEST(WrittenProblems, KeepHowManyVolumesATypeAttaches) {
  scheduling::Problem made = random_world(1);
  auto types = *made.pools.front().types;
  types.front().volume_limits["disk.example.com"] = 24;
  const auto shared = std::make_shared<const std::vector<scheduling::InstanceType>>(types);
  for (auto& option : made.pools) {
    option.types = shared;
  }
  const auto read = read_scenario(write_scenario(made, "volumes"));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  for (const auto& type : *read->problem.pools.front().types) {
    const scheduling::VolumeCounts expected =
        type.name == types.front().name ? types.front().volume_limits : scheduling::VolumeCounts{};
    EXPECT_EQ(type.volume_limits, expected) << type.name;
  }
}

TEST(WrittenProblems, ABadLineIsAnError) {
  EXPECT_FALSE(read_scenario("{\"kind\": \"Pod\", \"spec\": 7}\n").has_value());
  EXPECT_FALSE(read_scenario("{\"kind\": \"Lease\"}\n").has_value());
  EXPECT_FALSE(read_scenario("{\"kind\": ").has_value());
}

}  // namespace
}  // namespace millwright::checker
