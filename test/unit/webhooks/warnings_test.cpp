// Warnings about the object itself, and how they are passed on.
#include "webhooks/src/warnings.hpp"

#include "small_cluster.hpp"
#include "webhooks/src/nearest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace millwright::webhooks {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct DisruptionCase {
  std::string name;
  std::string disruption;
  std::string says;
};

TEST(DisruptionWarnings, SayWhatWillNeverHappen) {
  const std::vector<DisruptionCase> cases{
      {"budgets closed for good", "{budgets: [{nodes: '0'}]}", "no node of the pool is ever"},
      {"zero percent", "{budgets: [{nodes: 0%}]}", "no node of the pool is ever disrupted, since"},
      {"closed for good for one reason", "{budgets: [{nodes: '0', reasons: [Drifted]}]}",
       "ever disrupted as Drifted"},
      {"closed for good by two budgets",
       "{budgets: [{nodes: '0', reasons: [Empty, Drifted]}, {nodes: '0', reasons: "
       "[Underutilized]}]}",
       "ever disrupted, since"},
      {"a day that is a day long", "{budgets: [{nodes: '0', schedule: '@daily', duration: 24h}]}",
       "no node of the pool is ever disrupted"},
      {"every minute", "{budgets: [{nodes: '0', schedule: '* * * * *', duration: 1m}]}",
       "no node of the pool is ever disrupted"},
      {"a month that is longer than a month",
       "{budgets: [{nodes: '0', schedule: '@monthly', duration: 744h}]}",
       "no node of the pool is ever disrupted"},
      {"a day that leaves an hour", "{budgets: [{nodes: '0', schedule: '@daily', duration: 23h}]}",
       ""},
      {"weekdays that leave the weekend",
       "{budgets: [{nodes: '0', schedule: '0 0 * * mon-fri', duration: 24h}]}", ""},
      {"a closed budget beside an open one", "{budgets: [{nodes: '0'}, {nodes: '5'}]}",
       "ever disrupted"},
      {"a schedule that never comes",
       "{budgets: [{nodes: '0', schedule: '0 0 30 2 *', duration: 1h}]}", "never comes"},
      {"a schedule that is none", "{budgets: [{nodes: '5', schedule: 'a b c d e', duration: 1h}]}",
       "until it is mended"},
      {"a budget that lasts no time", "{budgets: [{nodes: '0', schedule: '@daily', duration: 0h}]}",
       "lasts no time"},
      {"consolidation off", "{consolidateAfter: Never}", "or expire after 720h"},
      {"a small budget", "{budgets: [{nodes: '1'}]}", ""},
      {"no budgets", "{budgets: []}", ""},
  };
  for (const DisruptionCase& test_case : cases) {
    const auto warnings = warnings_for(with_disruption(test_case.disruption), small_cluster());
    ASSERT_THAT(warnings, SizeIs(test_case.says.empty() ? 0 : 1)) << test_case.name;
    if (!test_case.says.empty()) {
      EXPECT_THAT(warnings[0], HasSubstr(test_case.says)) << test_case.name;
    }
  }
}

// Validation refuses more budgets, and each may take ten thousand steps to judge.
TEST(DisruptionWarnings, LookAtAsManyBudgetsAsAPoolMayHave) {
  const auto with_open_budgets = [](int count) {
    std::string budgets;
    for (int i = 0; i < count; ++i) {
      budgets += "{nodes: '5'}, ";
    }
    return warnings_for(with_disruption("{budgets: [" + budgets + "{nodes: '0'}]}"),
                        small_cluster());
  };
  EXPECT_THAT(with_open_budgets(49), SizeIs(1));
  EXPECT_THAT(with_open_budgets(50), IsEmpty());
}

TEST(DisruptionWarnings, SayThatNothingEverGoes) {
  json::value pool = with_disruption("{consolidateAfter: Never}");
  pool.at_pointer("/spec/template/spec").as_object()["expireAfter"] = "Never";
  EXPECT_THAT(warnings_for(pool, small_cluster()),
              ElementsAre(HasSubstr("expireAfter is \"Never\" too")));
}

TEST(DisruptionWarnings, SayThatStaticPoolsAreNotConsolidated) {
  json::value pool = test::admission_bases().at("static");
  pool.at("spec").as_object()["disruption"] = {{"consolidationPolicy", "WhenEmpty"}};
  EXPECT_THAT(warnings_for(pool, small_cluster()), ElementsAre(HasSubstr("static pool")));
}

TEST(PoolWarnings, FindPoolsThatCanMakeNoNode) {
  json::value pool = base_pool();
  pool.at("spec").as_object()["limits"] = {{"cpu", 0}, {"memory", "10Gi"}};
  EXPECT_THAT(warnings_for(pool, small_cluster()), ElementsAre(HasSubstr("spec.limits[cpu]")));
  pool = base_pool();
  pool.at("metadata").as_object()["name"] = std::string(64, 'a');
  EXPECT_THAT(warnings_for(pool, small_cluster()), ElementsAre(HasSubstr("metadata.name")));
}

TEST(ClassWarnings, AreAboutWhatTheCloudOrTheTranslationMakesOfThem) {
  const struct {
    std::string name;
    std::string base;
    std::string path;
    json::value value;
    std::string says;
    std::size_t count;
  } cases[] = {
      {"a small CCE root volume", "cce", "/spec/blockDeviceMappings/root/volumeSize", 20,
       "at least 40 GiB", 1},
      {"a CCE root volume of 40", "cce", "/spec/blockDeviceMappings/root/volumeSize", 40, "", 0},
      {"a plain CCE password",
       "cce",
       "/spec/login",
       {{"userPassword", {{"password", "hunter2"}}}},
       "base64-encoded",
       1},
      {"a hashed CCE password",
       "cce",
       "/spec/login",
       {{"userPassword", {{"password", base::encode_base64("$6$salt$hash")}}}},
       "",
       0},
      {"the old ECS disk size", "ecs", "/spec/systemDisk", {{"size", 40}}, "deprecated", 1},
      {"a launch template", "template", "/spec/context", "x", "older form", 1},
      {"a Provisioner that removes empty nodes", "provisioner", "/spec/weight", 1, "older form", 1},
  };
  for (const auto& test_case : cases) {
    const json::value object =
        test::changed(test::admission_bases().at(test_case.base),
                      {{"set", json::object{{test_case.path, test_case.value}}}});
    const auto warnings = warnings_for(object, small_cluster());
    ASSERT_THAT(warnings, SizeIs(test_case.count)) << test_case.name;
    if (test_case.count > 0) {
      EXPECT_THAT(warnings[0], HasSubstr(test_case.says)) << test_case.name;
    }
    for (const std::string& warning : warnings) {
      EXPECT_THAT(warning, ::testing::Not(HasSubstr("hunter2")));
    }
  }
}

TEST(ClassWarnings, TellWhatOlderKindsCannotSay) {
  json::value node_template = test::admission_bases().at("template");
  node_template.at("spec").as_object().erase("securityGroupSelector");
  node_template.at("spec").as_object()["launchTemplate"] = "mine";
  EXPECT_THAT(warnings_for(node_template, small_cluster()),
              ElementsAre(HasSubstr("older form"), HasSubstr("cannot be translated")));
  json::value provisioner = test::admission_bases().at("provisioner");
  provisioner.at("spec").as_object().erase("ttlSecondsAfterEmpty");
  EXPECT_THAT(warnings_for(provisioner, small_cluster()),
              ElementsAre(HasSubstr("older form"), HasSubstr("never removed")));
}

TEST(Warnings, ComeOnlyWhenTheSpecIsWritten) {
  const json::value pool = with_disruption("{consolidateAfter: Never}");
  json::value annotated = pool;
  annotated.at("metadata").as_object()["annotations"] = {{"a", "b"}};
  EXPECT_THAT(warnings_of(blind_admission().validate(update(annotated, pool))), IsEmpty());
  EXPECT_THAT(warnings_of(blind_admission().validate(update(pool, base_pool()))), SizeIs(1));
}

TEST(Warnings, ComeWithRefusalsToo) {
  json::value pool = with_disruption("{consolidateAfter: Never}");
  pool.at("spec").as_object()["weight"] = 0;
  const HttpReply reply = blind_admission().validate(creation(pool));
  EXPECT_FALSE(response_of(reply).at("allowed").as_bool());
  EXPECT_THAT(warnings_of(reply), SizeIs(1));
}

TEST(Warnings, StayWithinWhatAnApiServerPassesOn) {
  std::string requirements;
  for (int i = 0; i < 100; ++i) {
    requirements += "- {key: topology.kubernetes.io/zone, operator: In, values: [" +
                    std::string(50, 'z') + std::to_string(i) + ", ä" + std::string(150, 'y') +
                    "]}\n";
  }
  const json::value object = with_requirements(requirements);
  const ClusterSnapshot cluster = small_cluster();
  const auto warnings = warnings_about(model::kNodePoolResource, object, false, &cluster);
  std::size_t bytes = 0;
  for (const std::string& warning : warnings) {
    EXPECT_LT(warning.size(), 256U);
    bytes += warning.size();
  }
  EXPECT_LT(bytes, 4096U);
  ASSERT_THAT(warnings, ::testing::Not(IsEmpty()));
  EXPECT_THAT(warnings.back(), HasSubstr("more warnings"));
}

TEST(Nearest, PrefersFewEditsAndKnowsNumbers) {
  const Texts names{"amd64", "arm64", "c9.large.4", "c9.xlarge.4"};
  EXPECT_EQ(nearest("adm64", names), "amd64");
  EXPECT_EQ(nearest("c9.xlarg.4", names), "c9.xlarge.4");
  EXPECT_EQ(nearest("windows", names), "");
  EXPECT_EQ(nearest("x", {}), "");
  EXPECT_EQ(nearest("100", {"2", "16", "64", "big"}), "64");
  EXPECT_EQ(nearest("3", {"big"}), "");
}

RC_GTEST_PROP(EditDistance, IsSymmetricAndZeroOnlyForEqualTexts, (std::string a, std::string b)) {
  RC_ASSERT(edit_distance(a, b) == edit_distance(b, a));
  RC_ASSERT((edit_distance(a, b) == 0) == (a == b));
  RC_ASSERT(edit_distance(a, b) <= std::max(a.size(), b.size()));
}

}  // namespace
}  // namespace millwright::webhooks
