#include "checker/plan/checker.hpp"
#include "checker/scenarios/expectations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace millwright::checker {
namespace {

using ::testing::IsEmpty;

std::vector<std::filesystem::path> files() {
  std::vector<std::filesystem::path> result;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(SOURCE_ROOT) + "/test/scenarios")) {
    if (entry.path().extension() == ".yaml") {
      result.push_back(entry.path());
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

class ScenarioTest : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(ScenarioTest, IsPlannedAsExpected) {
  const auto scenario = read_scenario_file(GetParam());
  ASSERT_TRUE(scenario.has_value()) << scenario.error().message;
  const auto plan = scheduling::solve(scenario->problem);
  EXPECT_THAT(unmet(*scenario, plan), IsEmpty()) << scenario->title << "\n"
                                                 << describe(scenario->problem, plan);
  EXPECT_THAT(violations(scenario->problem, plan), IsEmpty()) << scenario->title;
}

INSTANTIATE_TEST_SUITE_P(Scenarios, ScenarioTest, ::testing::ValuesIn(files()),
                         [](const auto& which) {
                           std::string name = which.param.stem().string();
                           std::replace_if(
                               name.begin(), name.end(),
                               [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace millwright::checker
