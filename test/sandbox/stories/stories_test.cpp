// Every story of `millwright sandbox`, in virtual time with the real engine.

#include "support/virtual_cluster.hpp"

#include <gtest/gtest.h>

namespace millwright::test {
namespace {

class Stories : public testing::TestWithParam<sandbox::StoryInfo> {};

app::EmbeddedOptions options_for(const sandbox::StoryInfo& info, std::uint64_t seed) {
  app::EmbeddedOptions options;
  options.seed = seed;
  options.profiles = {*cloud::parse_profile(info.provider)};
  if (info.best_effort_min_values) {
    options.controllers.solve.min_values = scheduling::MinValuesPolicy::BestEffort;
  }
  return options;
}

base::TimePoint start_of(const sandbox::StoryInfo& info) {
  return base::parse_rfc3339(info.start).value_or(base::TimePoint(std::chrono::days(20'000)));
}

std::string account_of(const sandbox::StoryReport& report) {
  std::string text;
  for (const auto& step : report.steps) {
    text +=
        (step.ok ? "ok   " : "FAIL ") + base::format_rfc3339(step.time) + " " + step.text + "\n";
  }
  return text;
}

TEST_P(Stories, HoldsForSeveralSeeds) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    VirtualCluster cluster(options_for(GetParam(), seed), start_of(GetParam()));
    const auto report = cluster.tell(std::string(GetParam().name), std::chrono::hours(12));
    EXPECT_TRUE(report.ok()) << "seed " << seed << "\n" << account_of(report);
  }
}

TEST_P(Stories, GoesTheSameWayForTheSameSeed) {
  std::string accounts[2];
  for (auto& account : accounts) {
    VirtualCluster cluster(options_for(GetParam(), 7), start_of(GetParam()));
    account = account_of(cluster.tell(std::string(GetParam().name), std::chrono::hours(12)));
  }
  EXPECT_EQ(accounts[0], accounts[1]);
}

std::string name_of(const testing::TestParamInfo<sandbox::StoryInfo>& story) {
  std::string name(story.param.name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, Stories,
                         testing::ValuesIn(sandbox::stories().begin(), sandbox::stories().end()),
                         name_of);

}  // namespace
}  // namespace millwright::test
