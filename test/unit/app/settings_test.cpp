#include "millwright/app/settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace millwright::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

Environment environment_of(std::map<std::string, std::string> values) {
  return [values](const std::string& name) -> std::optional<std::string> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

// The flags that begin a piece of code, as in `--clouds aws`; those of other programs come after
// the program's name.
std::set<std::string> flags_in(const std::string& text) {
  constexpr std::string_view kBefore = "`--";
  std::set<std::string> flags;
  for (std::size_t at = text.find(kBefore); at != std::string::npos; at = text.find(kBefore, at)) {
    at += kBefore.size();
    const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", at);
    flags.insert(text.substr(at, end - at));
  }
  return flags;
}

TEST(Settings, DefaultsAreKarpenters) {
  const auto loaded = load_settings({}, environment_of({}));
  EXPECT_THAT(loaded.problems, IsEmpty());
  EXPECT_THAT(loaded.warnings, IsEmpty());
  EXPECT_EQ(loaded.settings.metrics_port, 8080);
  EXPECT_EQ(loaded.settings.health_port, 8081);
  EXPECT_EQ(loaded.settings.bind_address, "::") << "a pod may have an IPv6 address alone";
  EXPECT_EQ(loaded.settings.client_qps, 200);
  EXPECT_EQ(loaded.settings.leader_election_name, "karpenter-leader-election");
  EXPECT_TRUE(loaded.settings.leader_election);
  EXPECT_EQ(loaded.settings.controllers.registration_timeout, std::chrono::minutes(15));
  EXPECT_FALSE(loaded.settings.controllers.spot_to_spot);
}

TEST(Settings, TimesOfDraftsAndReservationsMayBeChosen) {
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  const auto by_default = load_settings({}, environment_of({})).settings.controllers;
  EXPECT_EQ(by_default.draft_idle, milliseconds(60));
  EXPECT_EQ(by_default.draft_max, seconds(1));
  EXPECT_EQ(by_default.reserve_after_ready, seconds(30));
  const auto loaded =
      load_settings({{"draft-max", "3s"}},
                    environment_of({{"DRAFT_IDLE", "200ms"}, {"RESERVE_AFTER_READY", "2m"}}));
  EXPECT_THAT(loaded.problems, IsEmpty());
  EXPECT_THAT(loaded.warnings, IsEmpty());
  EXPECT_EQ(loaded.settings.controllers.draft_idle, milliseconds(200));
  EXPECT_EQ(loaded.settings.controllers.draft_max, seconds(3));
  EXPECT_EQ(loaded.settings.controllers.reserve_after_ready, seconds(120));
}

TEST(Settings, WhatANodeCostsBesideItsInstanceIsAPrice) {
  EXPECT_EQ(load_settings({}, environment_of({})).settings.controllers.node_overhead, 0.005);
  for (const auto& [text, price] : {std::pair{"0", 0.0}, std::pair{"0.25", 0.25}}) {
    const auto loaded = load_settings({}, environment_of({{"NODE_OVERHEAD", text}}));
    EXPECT_THAT(loaded.problems, IsEmpty());
    EXPECT_EQ(loaded.settings.controllers.node_overhead, price);
  }
  for (const auto* text : {"-1", "a lot", "inf"}) {
    EXPECT_THAT(load_settings({{"node-overhead", text}}, environment_of({})).problems,
                testing::SizeIs(1))
        << text;
  }
}

TEST(Settings, HowMuchDearerATypeMayBeThanTheCheapestIsARatio) {
  EXPECT_EQ(load_settings({}, environment_of({})).settings.controllers.max_price_ratio, 0);
  for (const auto& [text, ratio] : {std::pair{"0", 0.0}, std::pair{"1", 1.0}, {"2.5", 2.5}}) {
    const auto loaded = load_settings({}, environment_of({{"MAX_PRICE_RATIO", text}}));
    EXPECT_THAT(loaded.problems, IsEmpty());
    EXPECT_EQ(loaded.settings.controllers.max_price_ratio, ratio);
  }
  for (const auto* text : {"-1", "0.5", "twice", "inf"}) {
    EXPECT_THAT(load_settings({{"max-price-ratio", text}}, environment_of({})).problems,
                testing::SizeIs(1))
        << text;
  }
}

TEST(Settings, TheConsoleIsServedOnTheAskingPortAndNowhereElse) {
  EXPECT_FALSE(load_settings({}, environment_of({})).settings.console);
  const auto both = load_settings({{"asking-port", "8445"}}, environment_of({{"CONSOLE", "true"}}));
  EXPECT_THAT(both.problems, IsEmpty());
  EXPECT_TRUE(both.settings.console);
  EXPECT_THAT(load_settings({{"console", "true"}}, environment_of({})).problems,
              ElementsAre(HasSubstr("--console needs --asking-port")));
}

TEST(Settings, AShadowTakesTheCatalogsOfTheNodeClassesUnlessToldOtherwise) {
  EXPECT_FALSE(load_settings({}, environment_of({})).settings.shadow);
  const auto loaded = load_settings({{"shadow", "true"}}, environment_of({}));
  EXPECT_THAT(loaded.problems, IsEmpty());
  EXPECT_THAT(loaded.warnings, IsEmpty());
  EXPECT_TRUE(loaded.settings.shadow);
  EXPECT_THAT(loaded.settings.simulated_clouds, IsEmpty());
  EXPECT_EQ(loaded.settings.shadow_report_interval, std::chrono::minutes(10));
  const auto told = load_settings({{"shadow", "true"}, {"simulated-clouds", "aws"}},
                                  environment_of({{"SHADOW_REPORT_INTERVAL", "1m"}}));
  EXPECT_THAT(told.problems, IsEmpty());
  EXPECT_THAT(told.settings.simulated_clouds, ElementsAre(cloud::Profile::Aws));
  EXPECT_EQ(told.settings.shadow_report_interval, std::chrono::minutes(1));
}

// A word that was misspelt must not start what buys and writes.
TEST(Settings, AWrongWordForTheShadowStopsTheProgram) {
  EXPECT_THAT(load_settings({}, environment_of({{"SHADOW", "yess"}})).problems,
              ElementsAre(HasSubstr("SHADOW")));
  EXPECT_THAT(load_settings({{"shadow", "yess"}}, environment_of({})).problems,
              ElementsAre(HasSubstr("--shadow")));
  EXPECT_THAT(
      load_settings({{"shadow", "true"}, {"shadow-report-interval", "0s"}}, environment_of({}))
          .problems,
      ElementsAre(HasSubstr("--shadow-report-interval must be above 0")));
}

TEST(Settings, WhatMakesNoSenseForAShadowIsRefusedWithItsReason) {
  const auto loaded =
      load_settings({{"shadow", "true"}, {"clouds", "huawei"}, {"asking-port", "8445"}},
                    environment_of({{"DISABLE_LEADER_ELECTION", "true"}, {"POD_IP", "10.0.0.1"}}));
  EXPECT_THAT(loaded.problems,
              UnorderedElementsAre(
                  HasSubstr("--clouds makes no sense with --shadow: no cloud is asked"),
                  HasSubstr("--asking-port makes no sense with --shadow: it answers no questions"),
                  HasSubstr("DISABLE_LEADER_ELECTION makes no sense with --shadow: nothing is"),
                  HasSubstr("POD_IP makes no sense with --shadow: neither scheduler")));
  EXPECT_THAT(load_settings({{"shadow-report-interval", "5m"}}, environment_of({})).warnings,
              ElementsAre(HasSubstr("has no effect without --shadow")));
}

TEST(Settings, WholeNodesAreTakenOnlyWhenAskedFor) {
  EXPECT_FALSE(load_settings({}, environment_of({})).settings.full_nodes);
  EXPECT_TRUE(
      load_settings({}, environment_of({{"EXTENDER_FULL_NODES", "true"}})).settings.full_nodes);
}

TEST(Settings, TheAddressOfAPodIsOneOfEitherFamily) {
  for (const char* address : {"10.1.2.3", "fd00::7", "::1", ""}) {
    const auto loaded = load_settings({{"pod-ip", address}}, environment_of({}));
    EXPECT_THAT(loaded.problems, IsEmpty()) << address;
    EXPECT_EQ(loaded.settings.pod_ip, address);
  }
  for (const char* nonsense : {"10.1.2", "millwright.svc", "10.1.2.3:8443", "10.1.2.3 "}) {
    const auto loaded = load_settings({{"pod-ip", nonsense}}, environment_of({}));
    EXPECT_THAT(loaded.problems, ElementsAre(HasSubstr("--pod-ip must be an IP address")))
        << nonsense;
    EXPECT_EQ(loaded.settings.pod_ip, "");
  }
}

TEST(Settings, NobodyIsWokenWhereNobodyIsRefused) {
  for (const auto& [wiring, called] :
       {std::pair("", true), std::pair("extender", true), std::pair("second-scheduler", true),
        std::pair("alone", false)}) {
    const auto loaded = load_settings({{"scheduler-wiring", wiring}}, environment_of({}));
    EXPECT_EQ(loaded.settings.controllers.extender_called, called) << wiring;
  }
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

TEST(Settings, KarpentersFlagsWithoutAMeaningHereAreAcceptedWithAWarning) {
  const auto loaded = load_settings({{"karpenter-service", "k"}, {"memory-limit", "-1"}},
                                    environment_of({{"LOG_OUTPUT_PATHS", "stdout"}}));
  EXPECT_THAT(loaded.problems, IsEmpty());
  EXPECT_THAT(loaded.warnings, ElementsAre(HasSubstr("--karpenter-service has no effect here"),
                                           HasSubstr("--memory-limit has no effect here"),
                                           HasSubstr("LOG_OUTPUT_PATHS has no effect here")));
}

TEST(Settings, ResourceClaimsArePlannedForWhenTheyAreNotIgnored) {
  EXPECT_FALSE(load_settings({}, environment_of({})).settings.controllers.solve.resource_claims);
  const auto on = load_settings({{"ignore-dra-requests", "false"}}, environment_of({}));
  EXPECT_THAT(on.problems, IsEmpty());
  EXPECT_THAT(on.warnings, IsEmpty());
  EXPECT_TRUE(on.settings.controllers.solve.resource_claims);
  EXPECT_EQ(on.settings.controllers.solve.device_templates, nullptr);
  const auto off = load_settings({}, environment_of({{"IGNORE_DRA_REQUESTS", "true"}}));
  EXPECT_THAT(off.warnings, IsEmpty());
  EXPECT_FALSE(off.settings.controllers.solve.resource_claims);
}

TEST(Settings, FeatureGatesSwitchWhatTheyName) {
  const auto loaded =
      load_settings({{"feature-gates", "SpotToSpotConsolidation=true"}}, environment_of({}));
  EXPECT_THAT(loaded.problems, IsEmpty());
  EXPECT_THAT(loaded.warnings, IsEmpty());
  EXPECT_TRUE(loaded.settings.controllers.spot_to_spot);
  EXPECT_TRUE(loaded.settings.aws_settings.reserved_capacity);
  const auto without =
      load_settings({{"feature-gates", "ReservedCapacity=false"}}, environment_of({}));
  EXPECT_FALSE(without.settings.aws_settings.reserved_capacity);
}

// As Go reads them, which people wrote them for.
TEST(Settings, GatesMayHaveBlanksAndOtherWordsForTrue) {
  const auto loaded =
      load_settings({{"clouds", "aws"}},
                    environment_of({{"FEATURE_GATES", "NodeRepair=True, StaticCapacity = 1 "},
                                    {"ISOLATED_VPC", "T"}}));
  EXPECT_THAT(loaded.problems, IsEmpty());
  EXPECT_THAT(loaded.warnings, IsEmpty());
  EXPECT_TRUE(loaded.settings.controllers.node_repair);
  EXPECT_TRUE(loaded.settings.controllers.static_capacity);
  EXPECT_TRUE(loaded.settings.aws_settings.isolated_vpc);
}

// None is taken silently: it has an effect, or draws a warning, or stops the program.
TEST(Settings, EveryFeatureGateOfKarpentersHasAnEffect) {
  struct Case {
    const char* gate;
    bool controllers::Options::*switched;
  };
  for (const auto& test : {Case{"NodeRepair", &controllers::Options::node_repair},
                           Case{"SpotToSpotConsolidation", &controllers::Options::spot_to_spot},
                           Case{"NodeOverlay", &controllers::Options::node_overlay},
                           Case{"StaticCapacity", &controllers::Options::static_capacity},
                           Case{"CapacityBuffer", &controllers::Options::capacity_buffer}}) {
    const auto with = [&](const char* value) {
      auto loaded =
          load_settings({{"feature-gates", std::string(test.gate) + value}}, environment_of({}));
      EXPECT_THAT(loaded.problems, IsEmpty()) << test.gate;
      EXPECT_THAT(loaded.warnings, IsEmpty()) << test.gate;
      return loaded.settings.controllers.*test.switched;
    };
    EXPECT_TRUE(with("=true")) << test.gate;
    EXPECT_FALSE(with("=false")) << test.gate;
  }
  EXPECT_FALSE(load_settings({}, environment_of({})).settings.controllers.node_repair);
}

TEST(Settings, AFeatureGateWithoutEffectIsWarnedOf) {
  const auto on = load_settings({{"clouds", "aws"}, {"aws-feature-gates", "NodeClassCEL=true"}},
                                environment_of({}));
  EXPECT_THAT(on.problems, IsEmpty());
  EXPECT_THAT(on.warnings, ElementsAre("--aws-feature-gates switches NodeClassCEL on, which has no "
                                       "effect yet"));
  const auto off = load_settings({{"clouds", "aws"}, {"aws-feature-gates", "NodeClassCEL=false"}},
                                 environment_of({}));
  EXPECT_THAT(off.warnings, IsEmpty());
}

TEST(Settings, AnUnknownFeatureGateIsWarnedOfAndNoError) {
  const auto loaded = load_settings({}, environment_of({{"FEATURE_GATES", "Unheard=true"}}));
  EXPECT_THAT(loaded.problems, IsEmpty());
  EXPECT_THAT(loaded.warnings, ElementsAre(HasSubstr("Unheard, which is not known here")));
}

TEST(Settings, TheFlagsOfKarpentersAwsProviderAreTaken) {
  const auto loaded = load_settings({{"clouds", "aws"},
                                     {"eks-control-plane", "true"},
                                     {"ami-refresh-interval", "5m"},
                                     {"aws-feature-gates", "NodeClassCEL=true"}},
                                    environment_of({{"SUBNET_REFRESH_INTERVAL", "30s"}}));
  EXPECT_THAT(loaded.problems, IsEmpty());
  EXPECT_TRUE(loaded.settings.aws_settings.eks_control_plane);
  EXPECT_EQ(loaded.settings.aws_settings.ami_refresh_interval, std::chrono::minutes(5));
  EXPECT_EQ(loaded.settings.aws_settings.subnet_refresh_interval, std::chrono::seconds(30));
  EXPECT_THAT(loaded.warnings, ElementsAre(HasSubstr("NodeClassCEL on, which has no effect yet")));
  const auto often = load_settings({{"ami-refresh-interval", "30s"}}, environment_of({}));
  EXPECT_THAT(often.problems, ElementsAre(HasSubstr("must be at least 1m")));
}

TEST(Settings, AwsSettingsWithoutAwsAreWarnedOf) {
  const auto loaded = load_settings({{"eks-control-plane", "true"}},
                                    environment_of({{"INTERRUPTION_QUEUE", "queue"}}));
  EXPECT_THAT(loaded.problems, IsEmpty());
  EXPECT_THAT(loaded.warnings,
              UnorderedElementsAre("--eks-control-plane has no effect without --clouds aws",
                                   "INTERRUPTION_QUEUE has no effect without --clouds aws"));
}

TEST(Settings, CloudsAreAList) {
  const auto loaded = load_settings({{"simulated-clouds", "aws,huawei"}}, environment_of({}));
  EXPECT_THAT(loaded.settings.simulated_clouds,
              ElementsAre(cloud::Profile::Aws, cloud::Profile::Huawei));
  const auto wrong = load_settings({{"simulated-clouds", "moon"}}, environment_of({}));
  EXPECT_THAT(wrong.problems, testing::Contains(HasSubstr("\"moon\" is none of them")));
}

TEST(Settings, AwsIsServedWhenAskedFor) {
  EXPECT_THAT(load_settings({}, environment_of({})).settings.clouds, IsEmpty());
  const auto loaded = load_settings({{"clouds", "aws"}, {"cluster-name", "demo"}},
                                    environment_of({{"VM_MEMORY_OVERHEAD_PERCENT", "0.05"},
                                                    {"RESERVED_ENIS", "1"},
                                                    {"ISOLATED_VPC", "true"}}));
  EXPECT_TRUE(loaded.problems.empty());
  EXPECT_THAT(loaded.settings.clouds, ElementsAre(cloud::Profile::Aws));
  EXPECT_EQ(loaded.settings.aws_settings.cluster_name, "demo");
  EXPECT_EQ(loaded.settings.aws_settings.vm_memory_overhead_percent, 0.05);
  EXPECT_EQ(loaded.settings.aws_settings.reserved_enis, 1);
  EXPECT_TRUE(loaded.settings.aws_settings.isolated_vpc);
  EXPECT_FALSE(
      load_settings({{"vm-memory-overhead-percent", "1.5"}}, environment_of({})).problems.empty());
  EXPECT_FALSE(load_settings({{"reserved-enis", "-1"}}, environment_of({})).problems.empty());
}

TEST(Settings, AlibabaCloudIsServedWhenAskedFor) {
  const auto loaded = load_settings({{"clouds", "alibaba"},
                                     {"alibaba-region", "cn-hangzhou"},
                                     {"alibaba-price-file", "/prices.json"},
                                     {"alibaba-price-cache", "/cache.json"},
                                     {"cluster-type", "Custom"}},
                                    environment_of({{"CLUSTER_ID", "c0123"},
                                                    {"ALIBABA_CLOUD_REGION_ID", "cn-beijing"},
                                                    {"INTERRUPTION", "false"},
                                                    {"VM_MEMORY_OVERHEAD_PERCENT", "0.05"}}));
  EXPECT_THAT(loaded.problems, IsEmpty());
  EXPECT_THAT(loaded.warnings, IsEmpty());
  EXPECT_THAT(loaded.settings.clouds, ElementsAre(cloud::Profile::Alibaba));
  const auto& alibaba = loaded.settings.alibaba_settings;
  EXPECT_EQ(alibaba.region, "cn-hangzhou");
  EXPECT_EQ(alibaba.cluster_id, "c0123");
  EXPECT_EQ(alibaba.price_file, "/prices.json");
  EXPECT_EQ(alibaba.price_cache, "/cache.json");
  EXPECT_EQ(alibaba.vm_memory_overhead_percent, 0.05);
  EXPECT_TRUE(alibaba.custom_cluster);
  EXPECT_FALSE(alibaba.interruption);
  EXPECT_THAT(load_settings({{"cluster-type", "EKS"}}, environment_of({})).problems,
              ElementsAre(HasSubstr("--cluster-type must be ACKManaged or Custom")));
}

TEST(Settings, HuaweiCloudIsServedWhenAskedFor) {
  const auto loaded = load_settings({{"clouds", "huawei"},
                                     {"huawei-project-id", "p1"},
                                     {"huawei-price-file", "/prices.json"},
                                     {"huawei-price-cache", "/cache.json"},
                                     {"huawei-spot", "true"}},
                                    environment_of({{"HUAWEICLOUD_SDK_REGION_ID", "cn-north-4"},
                                                    {"HUAWEICLOUD_SDK_CCE_CLUSTER_ID", "c1"},
                                                    {"HUAWEICLOUD_SDK_PROJECT_ID", "p2"}}));
  EXPECT_THAT(loaded.problems, IsEmpty());
  EXPECT_THAT(loaded.warnings, IsEmpty());
  EXPECT_THAT(loaded.settings.clouds, ElementsAre(cloud::Profile::Huawei));
  EXPECT_EQ(loaded.settings.huawei_settings.region, "cn-north-4");
  EXPECT_EQ(loaded.settings.huawei_settings.cluster_id, "c1");
  EXPECT_EQ(loaded.settings.huawei_settings.project_id, "p1");
  EXPECT_EQ(loaded.settings.huawei_settings.price_file, "/prices.json");
  EXPECT_EQ(loaded.settings.huawei_settings.price_cache, "/cache.json");
  EXPECT_TRUE(loaded.settings.huawei_settings.spot);
  EXPECT_FALSE(load_settings({}, environment_of({})).settings.huawei_settings.spot);
}

TEST(Settings, EachCloudCountsOnceInOneProcess) {
  const auto loaded = load_settings({{"clouds", "huawei,aws,alibaba,aws"}}, environment_of({}));
  EXPECT_THAT(loaded.problems, IsEmpty());
  EXPECT_THAT(loaded.settings.clouds,
              ElementsAre(cloud::Profile::Huawei, cloud::Profile::Aws, cloud::Profile::Alibaba));
  for (const auto* other : {"moon", "kwok"}) {
    EXPECT_THAT(load_settings({{"clouds", other}}, environment_of({})).problems,
                ElementsAre(HasSubstr("--clouds must be a list of aws, alibaba, huawei")));
  }
}

TEST(Settings, NoCloudIsBothRealAndSimulated) {
  const auto loaded = load_settings(
      {{"clouds", "aws,alibaba,huawei"}, {"simulated-clouds", "kwok,huawei,alibaba,aws"}},
      environment_of({}));
  EXPECT_THAT(
      loaded.problems,
      ElementsAre("--clouds and --simulated-clouds both name aws; its EC2NodeClasses can have one "
                  "of them",
                  "--clouds and --simulated-clouds both name alibaba; its ECSNodeClasses can have "
                  "one of them",
                  "--clouds and --simulated-clouds both name huawei; its CCENodeClasses can have "
                  "one of them"));
  const auto apart = load_settings({{"clouds", "aws"}, {"simulated-clouds", "alibaba,huawei"}},
                                   environment_of({}));
  EXPECT_THAT(apart.problems, IsEmpty());
}

TEST(Settings, SettingsOfCloudsThatAreNotServedAreWarnedOf) {
  const auto loaded = load_settings(
      {{"clouds", "aws"}, {"cluster-id", "c1"}, {"vm-memory-overhead-percent", "0.05"}},
      environment_of({{"HUAWEICLOUD_SDK_REGION_ID", "cn-north-4"}}));
  EXPECT_THAT(loaded.problems, IsEmpty());
  EXPECT_THAT(
      loaded.warnings,
      UnorderedElementsAre("--cluster-id has no effect without --clouds alibaba",
                           "HUAWEICLOUD_SDK_REGION_ID has no effect without --clouds huawei"));
  EXPECT_THAT(load_settings({{"clouds", "huawei"}, {"vm-memory-overhead-percent", "0.05"}},
                            environment_of({}))
                  .warnings,
              ElementsAre("--vm-memory-overhead-percent has no effect without --clouds aws or "
                          "alibaba"));
}

TEST(Settings, MemoryOverheadIsOfBothProvidersWithDefaultsOfTheirOwn) {
  const auto by_default = load_settings({}, environment_of({})).settings;
  EXPECT_EQ(by_default.aws_settings.vm_memory_overhead_percent, 0.075);
  EXPECT_EQ(by_default.alibaba_settings.vm_memory_overhead_percent, 0.065);
  const auto wrong =
      load_settings({}, environment_of({{"VM_MEMORY_OVERHEAD_PERCENT", "much"}})).settings;
  EXPECT_EQ(wrong.aws_settings.vm_memory_overhead_percent, 0.075);
  EXPECT_EQ(wrong.alibaba_settings.vm_memory_overhead_percent, 0.065);
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(SettingsReference, ThePageIsAsTheTableSays) {
  EXPECT_EQ(read_text(std::filesystem::path(SOURCE_ROOT) / "docs" / "settings.md"),
            settings_reference())
      << "write it anew with scripts/manifests";
}

TEST(SettingsReference, NoFlagOrVariableIsThereTwice) {
  std::set<std::string_view> names;
  for (const auto& setting : setting_table()) {
    EXPECT_TRUE(names.insert(setting.flag).second) << setting.flag;
    EXPECT_TRUE(names.insert(setting.environment).second) << setting.environment;
  }
}

// What the pages name that is not the controller's: flags of our other commands and of scripts.
const std::set<std::string, std::less<>> kOtherFlags{"at",
                                                     "certificate-authority",
                                                     "cloud",
                                                     "config",
                                                     "console-port",
                                                     "context",
                                                     "dry-run",
                                                     "duration",
                                                     "flag",
                                                     "forecast",
                                                     "hash-names",
                                                     "horizon",
                                                     "interval",
                                                     "keep",
                                                     "max-megabytes",
                                                     "no-console",
                                                     "nodepools",
                                                     "nodes",
                                                     "once",
                                                     "output",
                                                     "pool",
                                                     "port",
                                                     "replicas",
                                                     "seed",
                                                     "server",
                                                     "set",
                                                     "shrink",
                                                     "sort",
                                                     "speed",
                                                     "story",
                                                     "svg",
                                                     "tls-dir",
                                                     "token-file",
                                                     "verbose",
                                                     "whole-pods"};

TEST(SettingsReference, EveryFlagThatThePagesNameIsTaken) {
  std::set<std::string, std::less<>> taken;
  for (const auto& setting : setting_table()) {
    taken.insert(std::string(setting.flag));
  }
  const auto root = std::filesystem::path(SOURCE_ROOT);
  std::vector<std::filesystem::path> pages{root / "README.md"};
  for (const auto& entry : std::filesystem::directory_iterator(root / "docs")) {
    if (entry.path().extension() == ".md") {
      pages.push_back(entry.path());
    }
  }
  for (const auto& page : pages) {
    for (const auto& flag : flags_in(read_text(page))) {
      EXPECT_TRUE(taken.contains(flag) || kOtherFlags.contains(flag))
          << page << " names --" << flag << ", which the controller does not take";
    }
  }
}

}  // namespace
}  // namespace millwright::app
