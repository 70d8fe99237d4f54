// Which nodes are bought for which selectors: SCH-01..05, 07, 08, 10, 13..16, 18, 36.
#include "unit/scheduling/builders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::scheduling::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

Plan solve_one(const PoolBuilder& where, const PodBuilder& who,
               InstanceTypes what = three_sizes()) {
  return ProblemBuilder().add(where, std::move(what)).add(who).solve();
}

bool placed(const PoolBuilder& where, const PodBuilder& who, InstanceTypes what = three_sizes()) {
  return !place_of(solve_one(where, who, std::move(what)), who.value().meta.uid).empty();
}

TEST(NodeSelection, APodWithoutSelectorsGoesToAPoolWithCustomLabels) {
  EXPECT_TRUE(placed(pool("default").label("team", "a"), pod("p")));
}

TEST(NodeSelection, ASelectorMustAgreeWithThePoolsLabels) {
  EXPECT_TRUE(placed(pool("default").label("team", "a"), pod("p").selects("team", "a")));
  EXPECT_FALSE(placed(pool("default").label("team", "a"), pod("p").selects("team", "b")));
  EXPECT_FALSE(placed(pool("default").label("team", "a"),
                      pod("p").requires_term({need("team", Operator::In, {"b"})})));
}

TEST(NodeSelection, AnUndefinedCustomKeyFailsUnlessItMayBeAbsent) {
  const auto where = pool("default");
  EXPECT_FALSE(placed(where, pod("p").requires_term({need("team", Operator::In, {"a"})})));
  EXPECT_FALSE(placed(where, pod("p").requires_term({need("team", Operator::Exists)})));
  EXPECT_TRUE(placed(where, pod("p").requires_term({need("team", Operator::NotIn, {"a"})})));
  EXPECT_TRUE(placed(where, pod("p").requires_term({need("team", Operator::DoesNotExist)})));
}

TEST(NodeSelection, ExclusionsDoNotUndoThatAKeyMustExist) {
  const auto choosy = pod("p").requires_term(
      {need("team", Operator::Exists), need("team", Operator::NotIn, {"a"})});
  EXPECT_FALSE(placed(pool("default"), choosy));
  EXPECT_FALSE(placed(pool("default").label("team", "a"), choosy));
  EXPECT_TRUE(placed(pool("default").label("team", "b"), choosy));
  const Plan bare = ProblemBuilder().add(node("n")).add(choosy).solve();
  EXPECT_THAT(bare.refusals, SizeIs(1));
}

TEST(NodeSelection, AnUndefinedWellKnownKeyIsFineIfTheValueExists) {
  EXPECT_TRUE(placed(pool("default"), pod("p").selects(model::kZoneLabel, "test-zone-1")));
  EXPECT_FALSE(placed(pool("default"), pod("p").selects(model::kZoneLabel, "unknown")));
  EXPECT_FALSE(placed(pool("default"), pod("p").selects(model::kInstanceTypeLabel, "unknown")));
}

struct Narrowing {
  model::SelectorRequirement pool_requires;
  std::string key;
  std::string value;
  bool expected;
};

TEST(NodeSelection, APoolsRequirementsNarrowWhatPodsMaySelect) {
  const auto sized = [] {
    return types({type("a").label("size", {"1"}), type("b").label("size", {"5"}),
                  type("c").label("size", {"9"})});
  };
  const std::string zone(model::kZoneLabel);
  const std::vector<Narrowing> cases = {
      {need(zone, Operator::In, {"test-zone-1"}), zone, "test-zone-1", true},
      {need(zone, Operator::In, {"test-zone-1"}), zone, "test-zone-2", false},
      {need(zone, Operator::NotIn, {"test-zone-1"}), zone, "test-zone-1", false},
      {need(zone, Operator::NotIn, {"test-zone-1"}), zone, "test-zone-2", true},
      {need("size", Operator::Gt, {"5"}), "size", "9", true},
      {need("size", Operator::Gt, {"5"}), "size", "5", false},
      {need("size", Operator::Lt, {"5"}), "size", "1", true},
      {need("size", Operator::Lt, {"5"}), "size", "5", false},
      {need("size", Operator::Gte, {"5"}), "size", "5", true},
      {need("size", Operator::Gte, {"5"}), "size", "1", false},
      {need("size", Operator::Lte, {"5"}), "size", "5", true},
      {need("size", Operator::Lte, {"5"}), "size", "9", false},
  };
  for (const auto& test : cases) {
    EXPECT_EQ(placed(pool("default").requires_(test.pool_requires),
                     pod("p").selects(test.key, test.value), sized()),
              test.expected)
        << Requirement(test.pool_requires.key, test.pool_requires.op, test.pool_requires.values)
               .to_string()
        << " against " << test.value;
  }
}

TEST(NodeSelection, AHostnameIsNeverMetByANewNode) {
  const Plan plan = solve_one(pool("default"), pod("p").selects(model::kHostnameLabel, "red"));
  ASSERT_THAT(plan.refusals, SizeIs(1));
  EXPECT_THAT(plan.refusals[0].reason, HasSubstr("no new node can have the name"));
}

TEST(NodeSelection, EverythingCombinedGivesTheOneRightNode) {
  const auto list = types({type("amd"), type("arm").arch("arm64"),
                           type("win").os("windows").sold({{"test-zone-2", "on-demand"}})});
  const Plan plan = solve_one(
      pool("default"),
      pod("p")
          .selects(model::kOsLabel, "linux")
          .requires_term({need(model::kZoneLabel, Operator::In, {"test-zone-2", "test-zone-3"}),
                          need(model::kArchLabel, Operator::NotIn, {"amd64"})})
          .prefers(1, {need(model::kZoneLabel, Operator::NotIn, {"test-zone-3"}),
                       need(model::kCapacityTypeLabel, Operator::In, {"spot"})}),
      list);
  ASSERT_THAT(plan.claims, SizeIs(1));
  EXPECT_THAT(plan.claims[0].instance_types, ElementsAre("arm"));
  EXPECT_THAT(values_of(plan.claims[0], model::kZoneLabel), ElementsAre("test-zone-2"));
  EXPECT_THAT(values_of(plan.claims[0], model::kCapacityTypeLabel), ElementsAre("spot"));
}

TEST(NodeSelection, RestrictedLabelsAreRefusedByName) {
  for (const char* key : {"karpenter.sh/anything", "sub.karpenter.sh/x"}) {
    const Plan plan = solve_one(pool("default"), pod("p").selects(key, "v"));
    ASSERT_THAT(plan.refusals, SizeIs(1)) << key;
    EXPECT_THAT(plan.refusals[0].reason, HasSubstr(key));
    EXPECT_THAT(plan.refusals[0].remedy, HasSubstr(key));
  }
  EXPECT_TRUE(placed(pool("default").label("example.kubernetes.io/x", "v"),
                     pod("p").selects("example.kubernetes.io/x", "v")));
  EXPECT_TRUE(placed(pool("default"), pod("p").selects(model::kNodePoolLabel, "default")));
}

TEST(NodeSelection, CompatiblePodsShareANodeAndIncompatibleOnesDoNot) {
  const auto where = pool("default").requires_(need("team", Operator::In, {"a", "b"}));
  const auto plan_of = [&](const PodBuilder& one, const PodBuilder& two) {
    return ProblemBuilder().add(where, three_sizes()).add(one).add(two).solve();
  };
  EXPECT_THAT(plan_of(pod("p").selects("team", "a"), pod("q").selects("team", "a")).claims,
              SizeIs(1));
  EXPECT_THAT(plan_of(pod("p").selects("team", "a"), pod("q").selects("team", "b")).claims,
              SizeIs(2));
}

TEST(NodeSelection, ExistsDoesNotOverwriteAValueChosenEarlier) {
  const Plan plan =
      ProblemBuilder()
          .add(pool("default").requires_(need("team", Operator::Exists)), three_sizes())
          .add(pod("p").cpu("1").selects("team", "a"))
          .add(pod("q").requires_term({need("team", Operator::Exists)}))
          .solve();
  ASSERT_THAT(plan.claims, SizeIs(1));
  EXPECT_EQ(plan.claims[0].labels.at("team"), "a");
}

TEST(NodeSelection, ResourcesThatExistOnlyOnDifferentTypesCannotBeHadTogether) {
  const auto list = types({type("a").has("gpu/a", "1"), type("b").has("gpu/b", "1")});
  const Plan together =
      solve_one(pool("default"), pod("p").requests("gpu/a", "1").requests("gpu/b", "1"), list);
  EXPECT_THAT(together.refusals, SizeIs(1));
  const Plan apart = ProblemBuilder()
                         .add(pool("default"), list)
                         .add(pod("p").requests("gpu/a", "1"))
                         .add(pod("q").requests("gpu/b", "1"))
                         .solve();
  ASSERT_THAT(apart.claims, SizeIs(2));
  EXPECT_THAT(claim_of(apart, "p")->instance_types, ElementsAre("a"));
  EXPECT_THAT(claim_of(apart, "q")->instance_types, ElementsAre("b"));
}

TEST(NodeSelection, AResourceNobodySellsIsNamed) {
  const Plan plan = solve_one(pool("default"), pod("p").requests("example.com/fpga", "1"));
  ASSERT_THAT(plan.refusals, SizeIs(1));
  EXPECT_THAT(plan.refusals[0].reason, HasSubstr("example.com/fpga"));
  EXPECT_EQ(plan.refusals[0].remedy, "remove its request for example.com/fpga");
}

TEST(NodeSelection, SplitsByArchitectureSystemTypeAndZone) {
  const auto list = types({type("amd"), type("arm").arch("arm64"), type("win").os("windows")});
  const auto two = [&](std::string_view key, std::string_view a, std::string_view b) {
    return ProblemBuilder()
        .add(pool("default"), list)
        .add(pod("p").selects(key, a))
        .add(pod("q").selects(key, b))
        .solve()
        .claims.size();
  };
  EXPECT_EQ(two(model::kArchLabel, "amd64", "arm64"), 2u);
  EXPECT_EQ(two(model::kOsLabel, "linux", "windows"), 2u);
  EXPECT_EQ(two(model::kInstanceTypeLabel, "amd", "win"), 2u);
  EXPECT_EQ(two(model::kZoneLabel, "test-zone-1", "test-zone-2"), 2u);
  EXPECT_EQ(two(model::kZoneLabel, "test-zone-1", "test-zone-1"), 1u);
}

TEST(NodeSelection, ProviderLabelsChooseTypesAndOptionalOnesMayBeAbsent) {
  model::register_well_known_label("provider.example.com/special");
  const std::string special = "provider.example.com/special";
  const auto list = types({type("plain").requirement(Requirement(special, Operator::DoesNotExist)),
                           type("special").label(special, {"yes"})});
  const auto chosen = [&](const PodBuilder& who) {
    const Plan plan = solve_one(pool("default"), who, list);
    return plan.claims.empty() ? std::vector<std::string>{} : plan.claims[0].instance_types.list();
  };
  EXPECT_THAT(chosen(pod("p").selects(special, "yes")), ElementsAre("special"));
  EXPECT_THAT(chosen(pod("p").requires_term({need(special, Operator::Exists)})),
              ElementsAre("special"));
  EXPECT_THAT(chosen(pod("p").requires_term({need(special, Operator::DoesNotExist)})),
              ElementsAre("plain"));
  EXPECT_THAT(chosen(pod("p").requires_term({need(special, Operator::NotIn, {"yes"})})),
              ElementsAre("plain"));
  EXPECT_THAT(chosen(pod("p").selects(special, "no")), ElementsAre());
}

TEST(NodeSelection, AFullNodeIsFollowedByAnother) {
  const auto list = types({type("t").cpu("4").max_pods("3").no_overhead()});
  const Plan by_cpu =
      ProblemBuilder().add(pool("default"), list).add(pods(5, "p", pod("p").cpu("2"))).solve();
  EXPECT_THAT(by_cpu.claims, SizeIs(3));
  const Plan by_count =
      ProblemBuilder().add(pool("default"), list).add(pods(7, "p", pod("p"))).solve();
  EXPECT_THAT(by_count.claims, SizeIs(3));
}

TEST(NodeSelection, PacksFortyPodsTightly) {
  // 20 × 1.5 and 20 × 0.5 CPUs are 40 CPUs: ten nodes of four, not one more.
  const auto list = types({type("t").cpu("4").memory("64Gi").max_pods("20").no_overhead()});
  const Plan plan = ProblemBuilder()
                        .add(pool("default"), list)
                        .add(pods(20, "big", pod("p").cpu("1500m")))
                        .add(pods(20, "small", pod("p").cpu("500m")))
                        .solve();
  EXPECT_THAT(plan.claims, SizeIs(10));
}

TEST(NodeSelection, ZeroRequestsForSomethingNobodySellsAreHarmless) {
  EXPECT_TRUE(placed(pool("default"), pod("p").requests("example.com/none", "0")));
}

TEST(NodeSelection, RuntimeClassOverheadAndInitContainersCount) {
  const auto list = types({type("t").cpu("4").no_overhead()});
  EXPECT_TRUE(placed(pool("default"), pod("p").cpu("4"), list));
  EXPECT_FALSE(placed(pool("default"), pod("p").cpu("4").with([](auto& p) {
    p.spec.overhead = resources({{"cpu", "1m"}});
  }),
                      list));
  EXPECT_FALSE(placed(pool("default"), pod("p").cpu("1").with([](auto& p) {
    p.spec.init_containers.push_back({.name = "i", .requests = resources({{"cpu", "5"}})});
  }),
                      list));
}

TEST(NodeSelection, AllRefusedPodsAreReportedWhenThePoolAdmitsNoType) {
  const Plan plan =
      ProblemBuilder()
          .add(pool("default").requires_(need(model::kArchLabel, Operator::In, {"z"})),
               three_sizes())
          .add(pods(3, "p", pod("p")))
          .solve();
  ASSERT_THAT(plan.refusals, SizeIs(3));
  for (const auto& refused : plan.refusals) {
    EXPECT_THAT(refused.reason, HasSubstr("NodePool default: its requirements filter out all"));
  }
}

TEST(NodeSelection, ASoldOutTypeIsNoOption) {
  const Plan plan =
      solve_one(pool("default"), pod("p"),
                types({type("gone").price(0.1).unavailable(), type("here").price(9)}));
  ASSERT_THAT(plan.claims, SizeIs(1));
  EXPECT_THAT(plan.claims[0].instance_types, ElementsAre("here"));
}

}  // namespace
}  // namespace millwright::scheduling::testing
