#include "plane/field/scenarios.hpp"

#include "millwright/model/codec.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace millwright::field {
namespace {

Scenario scenario_named(const std::string& name, std::optional<double> minutes = std::nullopt) {
  const auto all = scenarios(minutes);
  return *std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.name == name; });
}

TEST(FieldScenarios, EveryObjectCanBeRead) {
  for (const auto& scenario : scenarios()) {
    SCOPED_TRACE(scenario.name);
    EXPECT_TRUE(model::parse_yaml(scenario.pools).has_value());
    for (const auto& phase : scenario.phases) {
      for (const auto& step : phase.steps) {
        const auto objects = model::parse_yaml(step.objects);
        ASSERT_TRUE(objects.has_value()) << step.objects << objects.error().message;
        EXPECT_FALSE(objects->empty());
      }
    }
  }
}

TEST(FieldScenarios, PhasesHaveNamesOfTheirOwnAndStepsInOrder) {
  std::set<std::string> names;
  for (const auto& scenario : scenarios()) {
    for (const auto& phase : scenario.phases) {
      EXPECT_TRUE(names.insert(phase.name).second) << phase.name;
      EXPECT_TRUE(std::is_sorted(phase.steps.begin(), phase.steps.end(),
                                 [](const Step& a, const Step& b) { return a.at < b.at; }));
    }
  }
}

TEST(FieldScenarios, BothSidesGetTheSameWalk) {
  const auto walk = scenario_named("random-walk").phases.front();
  const auto again = scenario_named("random-walk").phases.front();
  ASSERT_EQ(walk.steps.size(), again.steps.size());
  EXPECT_EQ(walk.steps.back().objects, again.steps.back().objects);
  EXPECT_GT(walk.steps.back().at, 580);
}

TEST(FieldScenarios, ATrialMayBeShorter) {
  EXPECT_EQ(scenario_named("jobs").phases.front().steps.size(), 10U);
  EXPECT_EQ(scenario_named("jobs", 1).phases.front().steps.size(), 2U);
  EXPECT_LT(scenario_named("random-walk", 2).phases.front().steps.back().at, 120);
}

}  // namespace
}  // namespace millwright::field
