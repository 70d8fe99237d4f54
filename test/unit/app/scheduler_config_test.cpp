// Default topology spread constraints, read from Karpenter's form and from kube-scheduler's own.
#include "millwright/app/settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

namespace millwright::app {
namespace {

using scheduling::DefaultSpread;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

LoadedSettings load(const std::string& config) {
  return load_settings({{"scheduler-config", config}},
                       [](const std::string&) { return std::optional<std::string>(); });
}
std::vector<DefaultSpread> defaults_of(const std::string& config) {
  const auto loaded = load(config);
  EXPECT_THAT(loaded.problems, IsEmpty()) << config;
  return loaded.settings.controllers.solve.default_spread;
}

constexpr auto kZone = R"(
podTopologySpread:
  defaultConstraints:
  - {maxSkew: 2, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, minDomains: 3}
  - {maxSkew: 5, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway}
)";

TEST(SchedulerConfig, ReadsKarpentersForm) {
  const auto defaults = defaults_of(kZone);
  ASSERT_THAT(defaults, SizeIs(1));
  EXPECT_EQ(defaults[0].scheduler_name, "");
  ASSERT_THAT(defaults[0].constraints, SizeIs(2));
  EXPECT_EQ(defaults[0].constraints[0].topology_key, "topology.kubernetes.io/zone");
  EXPECT_EQ(defaults[0].constraints[0].max_skew, 2);
  EXPECT_EQ(defaults[0].constraints[0].min_domains, 3);
  EXPECT_EQ(defaults[0].constraints[1].when_unsatisfiable, "ScheduleAnyway");
  EXPECT_FALSE(defaults[0].constraints[0].label_selector);
}

TEST(SchedulerConfig, ReadsJsonAsWell) {
  EXPECT_THAT(defaults_of(R"({"podTopologySpread":{"defaultConstraints":[{"maxSkew":1,)"
                          R"("topologyKey":"team/rack","whenUnsatisfiable":"ScheduleAnyway"}]}})"),
              SizeIs(1));
}

TEST(SchedulerConfig, NothingGivenIsNothingAdded) {
  EXPECT_THAT(defaults_of(""), IsEmpty());
  EXPECT_THAT(defaults_of("podTopologySpread: {}"), IsEmpty());
  EXPECT_THAT(defaults_of("podTopologySpread: {defaultConstraints: []}"), IsEmpty());
}

TEST(SchedulerConfig, ReadsEachProfileOfAKubeSchedulerConfiguration) {
  const auto defaults = defaults_of(R"(
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
percentageOfNodesToScore: 100
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated}}
  - name: PodTopologySpread
    args:
      defaultingType: List
      defaultConstraints:
      - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}
- schedulerName: batch
  pluginConfig:
  - {name: PodTopologySpread, args: {defaultingType: System}}
- schedulerName: racks
  pluginConfig:
  - name: PodTopologySpread
    args:
      defaultingType: List
      defaultConstraints:
      - {maxSkew: 3, topologyKey: team/rack, whenUnsatisfiable: ScheduleAnyway}
)");
  ASSERT_THAT(defaults, SizeIs(2));  // System asks for nothing that could be planned
  EXPECT_EQ(defaults[0].scheduler_name, "default-scheduler");
  EXPECT_EQ(defaults[1].scheduler_name, "racks");
  EXPECT_EQ(defaults[1].constraints.at(0).topology_key, "team/rack");
}

struct Bad {
  std::string constraint;
  std::string problem;
};

TEST(SchedulerConfig, NamesTheFieldThatIsWrong) {
  const std::string at = "podTopologySpread.defaultConstraints[0]";
  const std::vector<Bad> cases = {
      {"{topologyKey: z, whenUnsatisfiable: DoNotSchedule}", at + ".maxSkew must be set"},
      {"{maxSkew: 0, topologyKey: z, whenUnsatisfiable: DoNotSchedule}",
       at + ".maxSkew must be a whole number above 0"},
      {"{maxSkew: 1, whenUnsatisfiable: DoNotSchedule}", at + ".topologyKey must be set"},
      {"{maxSkew: 1, topologyKey: 'a b', whenUnsatisfiable: DoNotSchedule}",
       at + ".topologyKey is no label key"},
      {"{maxSkew: 1, topologyKey: z}", at + ".whenUnsatisfiable must be set"},
      {"{maxSkew: 1, topologyKey: z, whenUnsatisfiable: Never}",
       at + ".whenUnsatisfiable must be DoNotSchedule or ScheduleAnyway"},
      {"{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, labelSelector: {}}",
       at + ".labelSelector must not be set"},
      {"{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, matchLabelKeys: [a]}",
       at + ".matchLabelKeys must not be set"},
      {"{maxSkew: 1, topologyKey: z, whenUnsatisfiable: ScheduleAnyway, minDomains: 2}",
       at + ".minDomains goes with whenUnsatisfiable DoNotSchedule only"},
      {"{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, maxskew: 2}",
       at + ".maxskew is not a known field"},
      {"{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: Maybe}",
       at + ".nodeTaintsPolicy must be Honor or Ignore"},
      {"7", at + " must be an object"},
  };
  for (const auto& [constraint, problem] : cases) {
    const auto loaded = load("podTopologySpread: {defaultConstraints: [" + constraint + "]}");
    EXPECT_THAT(loaded.problems,
                ElementsAre(HasSubstr("--scheduler-config is not usable: " + problem)))
        << constraint;
    EXPECT_THAT(loaded.settings.controllers.solve.default_spread, IsEmpty());
  }
}

TEST(SchedulerConfig, RefusesWhatKubeSchedulerWouldRefuse) {
  const std::string zone = "{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule}";
  const std::vector<Bad> cases = {
      {"podTopologySpread: {defaultConstraints: [" + zone + ", " + zone + "]}",
       "defaultConstraints[1] repeats topologyKey z with whenUnsatisfiable DoNotSchedule"},
      {"{kind: KubeSchedulerConfiguration, profiles: [{pluginConfig: [{name: PodTopologySpread, "
       "args: {defaultConstraints: [" +
           zone + "]}}]}]}",
       "profiles[0].pluginConfig[0].args.defaultingType must be List"},
      {"podTopologySpread: {defaultingType: Both}", "defaultingType must be List or System"},
      {"podTopologyspread: {}", "podTopologyspread is not a known field"},
      {"kind: Pod", "kind must be KubeSchedulerConfiguration"},
      {"[]", "it must be an object"},
      {"{a: 1}\n---\n{b: 1}", "it must be one document"},
      {"{", "line"},
  };
  for (const auto& [config, problem] : cases) {
    EXPECT_THAT(load(config).problems, ElementsAre(HasSubstr(problem))) << config;
  }
}

TEST(SchedulerConfig, AValueThatBeginsWithASlashIsAFile) {
  const std::string path = testing::TempDir() + "scheduler-config.yaml";
  std::ofstream(path) << kZone;
  EXPECT_THAT(defaults_of(path), SizeIs(1));
  std::ofstream(path) << "podTopologySpread: {defaultConstraints: 1}";
  EXPECT_THAT(load(path).problems, ElementsAre(HasSubstr("names " + path + ", in which ")));
  std::remove(path.c_str());
  EXPECT_THAT(load(path).problems, ElementsAre(HasSubstr("cannot be read")));
}

TEST(SchedulerConfig, AMalformedOneIsAProblemWhereverItComesFrom) {
  const auto loaded = load_settings({}, [](const std::string& name) {
    return name == "SCHEDULER_CONFIG" ? std::optional<std::string>("podTopologySpread: 1")
                                      : std::nullopt;
  });
  EXPECT_THAT(loaded.problems, ElementsAre(HasSubstr("SCHEDULER_CONFIG is not usable")));
  EXPECT_THAT(loaded.warnings, IsEmpty());
}

}  // namespace
}  // namespace millwright::app
