// A refusal names the one thing in the way, and a change that would do. Every remedy here is also
// carried out and must work.
#include "builders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::scheduling::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

struct Case {
  std::string what;
  PoolBuilder pool;
  PodBuilder pod;
  std::string reason;  // part of it
  std::string remedy;
  PoolBuilder changed_pool;
  PodBuilder changed_pod;
};

std::vector<Case> cases() {
  const auto any = pool("main");
  const auto plain = pod("p");
  const auto zoned =
      pool("main").requires_(need(model::kZoneLabel, Operator::In, {"test-zone-1", "test-zone-2"}));
  const auto both_zones = pool("main").requires_(
      need(model::kZoneLabel, Operator::In, {"test-zone-1", "test-zone-2", "test-zone-3"}));
  const auto tainted = pool("main").taint("team", "a", "NoSchedule");
  return {
      {"a taint", tainted, plain, "does not tolerate taint team=a:NoSchedule",
       "tolerate team=a:NoSchedule", tainted, pod("p").tolerates("team", "a", "NoSchedule")},
      {"a zone the pool excludes", zoned, pod("p").selects(model::kZoneLabel, "test-zone-3"),
       "wanted topology.kubernetes.io/zone In [test-zone-3], offered",
       "allow topology.kubernetes.io/zone test-zone-3 in NodePool main", both_zones,
       pod("p").selects(model::kZoneLabel, "test-zone-3")},
      {"a label nobody sets", any, pod("p").selects("team", "a"),
       "label \"team\" has no known values", "add label team=a to the template of NodePool main",
       pool("main").label("team", "a"), pod("p").selects("team", "a")},
      {"a misspelt label", any, pod("p").selects("topology.kubernetes.io/zon", "test-zone-1"),
       "did you mean \"topology.kubernetes.io/zone\"",
       "add label topology.kubernetes.io/zon=test-zone-1 to the template of NodePool main",
       pool("main").label("topology.kubernetes.io/zon", "test-zone-1"),
       pod("p").selects("topology.kubernetes.io/zon", "test-zone-1")},
      {"too much CPU", any, pod("p").cpu("17"),
       "no instance type has enough for {cpu: 17, pods: 1}", "fits if cpu <= 15900m", any,
       pod("p").cpu("15900m")},
      {"too much CPU for what it selects", any,
       pod("p").cpu("3").selects(model::kInstanceTypeLabel, "small"),
       "no instance type that meets node.kubernetes.io/instance-type In [small] has enough",
       "fits if cpu <= 1900m", any,
       pod("p").cpu("1900m").selects(model::kInstanceTypeLabel, "small")},
      {"too much memory", any, pod("p").memory("40Gi"), "has enough for",
       "fits if memory <= 32758Mi", any, pod("p").memory("32758Mi")},
      {"a combination nobody sells", any,
       pod("p")
           .selects(model::kZoneLabel, "test-zone-3")
           .selects(model::kCapacityTypeLabel, "spot"),
       "have no available offering for topology.kubernetes.io/zone In [test-zone-3], "
       "karpenter.sh/capacity-type In [spot]",
       "allow other zones or capacity types, or wait for capacity", any,
       pod("p").selects(model::kZoneLabel, "test-zone-3")},
      {"a limit", pool("main").limit("cpu", "1"), plain, "it would exceed limits.cpu (1)",
       "raise limits.cpu of NodePool main to 2", pool("main").limit("cpu", "2"), plain},
      {"two limits", pool("main").limit("cpu", "1").limit("memory", "1Gi"), plain,
       "limits.cpu (1) and limits.memory (1Gi)",
       "raise limits.cpu of NodePool main to 2 and limits.memory of NodePool main to 4Gi",
       pool("main").limit("cpu", "2").limit("memory", "4Gi"), plain},
  };
}

TEST(Explain, NamesTheObstacleAndARemedyThatWorks) {
  for (const auto& test : cases()) {
    const Plan plan = ProblemBuilder().add(test.pool, three_sizes()).add(test.pod).solve();
    ASSERT_THAT(plan.refusals, SizeIs(1)) << test.what;
    // The order of keys within a message follows the keys.
    EXPECT_THAT(plan.refusals[0].reason, HasSubstr("NodePool main: ")) << test.what;
    if (test.what != "a combination nobody sells") {
      EXPECT_THAT(plan.refusals[0].reason, HasSubstr(test.reason)) << test.what;
    } else {
      EXPECT_THAT(plan.refusals[0].reason, HasSubstr("have no available offering for"));
    }
    EXPECT_EQ(plan.refusals[0].remedy, test.remedy) << test.what;
    const Plan changed =
        ProblemBuilder().add(test.changed_pool, three_sizes()).add(test.changed_pod).solve();
    EXPECT_THAT(changed.refusals, SizeIs(0)) << test.what;
  }
}

TEST(Explain, ListsEveryPoolAndRemediesTheClosest) {
  const Plan plan = ProblemBuilder()
                        .add(pool("a").taint("k", "v", "NoSchedule"), three_sizes())
                        .add(pool("b").limit("cpu", "1"), three_sizes())
                        .add(pod("p"))
                        .solve();
  ASSERT_THAT(plan.refusals, SizeIs(1));
  EXPECT_EQ(plan.refusals[0].reason,
            "NodePool b: it would exceed limits.cpu (1); "
            "NodePool a: it does not tolerate taint k=v:NoSchedule");
  EXPECT_EQ(plan.refusals[0].remedy, "raise limits.cpu of NodePool b to 2");
}

TEST(Explain, SuspectsAMisreadUnit) {
  const Plan plan =
      ProblemBuilder().add(pool("main"), three_sizes()).add(pod("p").cpu("100M")).solve();
  EXPECT_THAT(plan.refusals.at(0).remedy, HasSubstr("\"m\" is a thousandth"));
}

TEST(Explain, BlamesARequirementNotAPreference) {
  const Plan plan = ProblemBuilder()
                        .add(pool("main"), three_sizes())
                        .add(pod("p").cpu("20").prefers(1, {need("absent", Operator::Exists)}))
                        .solve();
  EXPECT_EQ(plan.refusals.at(0).remedy, "fits if cpu <= 15900m");
}

TEST(Explain, SaysWhenTwoThingsMustChange) {
  const auto list = types({type("wide").cpu("16").memory("1Gi").no_overhead(),
                           type("deep").cpu("1").memory("64Gi").no_overhead()});
  const Plan plan =
      ProblemBuilder().add(pool("main"), list).add(pod("p").cpu("17").memory("80Gi")).solve();
  EXPECT_EQ(plan.refusals.at(0).remedy, "fits if cpu <= 1 and memory <= 64Gi");
}

}  // namespace
}  // namespace millwright::scheduling::testing
