#include "millwright/app/settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Environment environment_of(std::map<std::string, std::string> values) {
  return [values](const std::string& name) -> std::optional<std::string> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

TEST(Settings, DefaultsAreKarpenters) {
  const auto loaded = load_settings({}, environment_of({}));
  EXPECT_THAT(loaded.problems, IsEmpty());
  EXPECT_THAT(loaded.warnings, IsEmpty());
  EXPECT_EQ(loaded.settings.metrics_port, 8080);
  EXPECT_EQ(loaded.settings.health_port, 8081);
  EXPECT_EQ(loaded.settings.client_qps, 200);
  EXPECT_EQ(loaded.settings.leader_election_name, "karpenter-leader-election");
  EXPECT_TRUE(loaded.settings.leader_election);
  EXPECT_EQ(loaded.settings.controllers.registration_timeout, std::chrono::minutes(15));
  EXPECT_FALSE(loaded.settings.controllers.spot_to_spot);
}

TEST(Settings, TheFlagWinsOverTheEnvironment) {
  const auto loaded =
      load_settings({{"metrics-port", "1234"}},
                    environment_of({{"METRICS_PORT", "999"}, {"HEALTH_PROBE_PORT", "4321"}}));
  EXPECT_EQ(loaded.settings.metrics_port, 1234);
  EXPECT_EQ(loaded.settings.health_port, 4321);
}

TEST(Settings, EveryProblemIsReportedAtOnce) {
  const auto loaded = load_settings({{"metrics-port", "seventy"},
                                     {"kube-client-qps", "-1"},
                                     {"preference-policy", "Sometimes"},
                                     {"feature-gates", "NodeRepair"},
                                     {"log-level", "loud"},
                                     {"registration-timeout", "soon"},
                                     {"no-such-flag", "1"}},
                                    environment_of({}));
  EXPECT_EQ(loaded.problems.size(), 7U);
  EXPECT_THAT(loaded.problems,
              testing::Contains(HasSubstr("--metrics-port must be a port from 0 to 65535")));
  EXPECT_THAT(loaded.problems, testing::Contains(HasSubstr("--no-such-flag is not known")));
}

TEST(Settings, AMalformedEnvironmentValueFallsBackToTheDefaultWithAWarning) {
  const auto loaded =
      load_settings({}, environment_of({{"METRICS_PORT", "many"}, {"MIN_VALUES_POLICY", "Loose"}}));
  EXPECT_THAT(loaded.problems, IsEmpty());
  EXPECT_EQ(loaded.warnings.size(), 2U);
  EXPECT_EQ(loaded.settings.metrics_port, 8080);
  EXPECT_EQ(loaded.settings.controllers.solve.min_values, scheduling::MinValuesPolicy::Strict);
}

TEST(Settings, KarpentersFlagsWithoutAMeaningHereAreAccepted) {
  const auto loaded =
      load_settings({{"karpenter-service", "k"}, {"memory-limit", "-1"}}, environment_of({}));
  EXPECT_THAT(loaded.problems, IsEmpty());
  EXPECT_EQ(loaded.warnings.size(), 2U);
}

TEST(Settings, FeatureGatesSwitchWhatTheyName) {
  const auto loaded = load_settings(
      {{"feature-gates", "SpotToSpotConsolidation=true,Unheard=true"}}, environment_of({}));
  EXPECT_THAT(loaded.problems, IsEmpty());
  EXPECT_TRUE(loaded.settings.controllers.spot_to_spot);
  EXPECT_TRUE(loaded.settings.aws_settings.reserved_capacity);
  const auto without =
      load_settings({{"feature-gates", "ReservedCapacity=false"}}, environment_of({}));
  EXPECT_FALSE(without.settings.aws_settings.reserved_capacity);
}

TEST(Settings, CloudsAreAList) {
  const auto loaded = load_settings({{"simulated-clouds", "aws,huawei"}}, environment_of({}));
  EXPECT_THAT(loaded.settings.simulated_clouds,
              ElementsAre(cloud::Profile::Aws, cloud::Profile::Huawei));
  const auto wrong = load_settings({{"simulated-clouds", "moon"}}, environment_of({}));
  EXPECT_THAT(wrong.problems, testing::Contains(HasSubstr("\"moon\" is none of them")));
}

TEST(Settings, AwsIsServedWhenAskedForAndNotTwice) {
  EXPECT_FALSE(load_settings({}, environment_of({})).settings.aws);
  const auto loaded = load_settings({{"clouds", "aws"}, {"cluster-name", "demo"}},
                                    environment_of({{"VM_MEMORY_OVERHEAD_PERCENT", "0.05"},
                                                    {"RESERVED_ENIS", "1"},
                                                    {"ISOLATED_VPC", "true"}}));
  EXPECT_TRUE(loaded.problems.empty());
  EXPECT_TRUE(loaded.settings.aws);
  EXPECT_EQ(loaded.settings.aws_settings.cluster_name, "demo");
  EXPECT_EQ(loaded.settings.aws_settings.vm_memory_overhead_percent, 0.05);
  EXPECT_EQ(loaded.settings.aws_settings.reserved_enis, 1);
  EXPECT_TRUE(loaded.settings.aws_settings.isolated_vpc);
  EXPECT_FALSE(load_settings({{"clouds", "moon"}}, environment_of({})).problems.empty());
  EXPECT_FALSE(load_settings({{"clouds", "aws"}, {"simulated-clouds", "aws"}}, environment_of({}))
                   .problems.empty());
  EXPECT_FALSE(
      load_settings({{"vm-memory-overhead-percent", "1.5"}}, environment_of({})).problems.empty());
  EXPECT_FALSE(load_settings({{"reserved-enis", "-1"}}, environment_of({})).problems.empty());
}

}  // namespace
}  // namespace millwright::app
