// Which NodePool a pod's node comes from: SCH-09, PRV-13, 14 and instance choice (IT).
#include "millwright/scheduling/plan_memory.hpp"
#include "unit/scheduling/builders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::scheduling::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string pool_for(const std::vector<PoolBuilder>& choices, const PodBuilder& who) {
  ProblemBuilder problem;
  for (const auto& choice : choices) {
    problem.add(choice, three_sizes());
  }
  const Plan plan = problem.add(who).solve();
  return plan.claims.empty() ? "" : plan.claims[0].node_pool;
}

TEST(Pools, AreTriedByWeightThenNameBackwards) {
  EXPECT_EQ(pool_for({pool("a").weight(1), pool("b").weight(100), pool("c")}, pod("p")), "b");
  EXPECT_EQ(pool_for({pool("a"), pool("c"), pool("b")}, pod("p")), "c");
}

TEST(Pools, AnExplicitSelectorBeatsWeight) {
  EXPECT_EQ(
      pool_for({pool("a"), pool("b").weight(100)}, pod("p").selects(model::kNodePoolLabel, "a")),
      "a");
  EXPECT_EQ(pool_for({pool("a").label("team", "x"), pool("b").weight(100)},
                     pod("p").selects("team", "x")),
            "a");
}

TEST(Pools, AreSkippedWhenTheyCannotServe) {
  EXPECT_EQ(pool_for({pool("a"), pool("b").weight(9).taint("k", "v", "NoSchedule")}, pod("p")),
            "a");
  EXPECT_EQ(pool_for({pool("a"), pool("b").weight(9).requires_(
                                     need(model::kArchLabel, Operator::In, {"arm64"}))},
                     pod("p")),
            "a");
}

TEST(Pools, ThatMayNotGrowAreNotUsed) {
  const auto not_ready = pool("a").with([](model::NodePool& p) {
    p.conditions.push_back({.type = "Ready", .status = model::ConditionStatus::False});
  });
  const auto deleting =
      pool("b").with([](model::NodePool& p) { p.meta.deletion_timestamp = base::TimePoint{}; });
  const auto fixed = pool("c").with([](model::NodePool& p) { p.replicas = 3; });
  EXPECT_EQ(pool_for({not_ready, deleting, fixed}, pod("p")), "");
  EXPECT_EQ(pool_for({not_ready, deleting, fixed, pool("z").weight(1)}, pod("p")), "z");
}

TEST(Pools, ForWhichNothingCanBeBoughtAreKnownAfterAPlan) {
  const auto impossible =
      pool("b").weight(9).requires_(need(model::kArchLabel, Operator::In, {"arm64"}));
  const auto choosy = pool("c").requires_(need(model::kInstanceTypeLabel, Operator::Exists, {}, 9));
  PlanMemory memory;
  EXPECT_THAT(memory.pool_problems(), IsEmpty());
  const auto problem =
      ProblemBuilder().add(pool("a"), three_sizes()).add(impossible, three_sizes()).add(pod("p"));
  solve(problem.problem(), memory);
  EXPECT_THAT(memory.pool_problems(),
              ElementsAre(PoolProblem{"b", "its requirements filter out all instance types"}));
  solve(ProblemBuilder().add(choosy, three_sizes()).add(pod("p")).problem(), memory);
  ASSERT_THAT(memory.pool_problems(), SizeIs(1)) << "of the last plan";
  EXPECT_THAT(memory.pool_problems()[0].problem, HasSubstr("minValues"));
  solve(ProblemBuilder().add(pool("a"), three_sizes()).add(pod("p")).problem(), memory);
  EXPECT_THAT(memory.pool_problems(), IsEmpty());
}

TEST(Pools, WithoutKnownTypesAreSkipped) {
  const Plan plan = ProblemBuilder()
                        .add(pool("a").weight(9), nullptr)
                        .add(pool("b"), types({}))
                        .add(pool("c"), three_sizes())
                        .add(pod("p"))
                        .solve();
  EXPECT_EQ(plan.claims.at(0).node_pool, "c");
  const Plan none = ProblemBuilder().add(pool("a"), nullptr).add(pod("p")).solve();
  EXPECT_THAT(none.refusals.at(0).reason, HasSubstr("offers no instance types"));
}

// --- Which types ---------------------------------------------------------------------------------

// Every combination of two architectures, systems, zones and capacity types, at different prices.
InstanceTypes assorted() {
  std::vector<InstanceType> list;
  int number = 0;
  for (const char* arch : {"amd64", "arm64"}) {
    for (const char* os : {"linux", "windows"}) {
      for (const char* size : {"1", "2", "4"}) {
        TypeBuilder item = type(std::string(arch) + "-" + os + "-" + size);
        item.arch(arch).os(os).cpu(size).sold(std::vector<std::pair<std::string, std::string>>{});
        for (const char* zone : {"zone-a", "zone-b"}) {
          for (const char* capacity_type : {"spot", "on-demand"}) {
            // No order in these that a lucky guess could follow.
            item.sold(offering(zone, capacity_type, 1 + (number * 37 % 64) / 10.0));
            ++number;
          }
        }
        list.push_back(item);
      }
    }
  }
  return types(std::move(list));
}

TEST(InstanceChoice, TheFirstOptionIsAlwaysTheCheapestCompatibleOne) {
  const auto list = assorted();
  const std::vector<std::vector<std::string>> dimensions = {{"", "amd64", "arm64"},
                                                            {"", "linux", "windows"},
                                                            {"", "zone-a", "zone-b"},
                                                            {"", "spot", "on-demand"}};
  const std::vector<std::string> keys = {
      std::string(model::kArchLabel), std::string(model::kOsLabel), std::string(model::kZoneLabel),
      std::string(model::kCapacityTypeLabel)};
  for (int combination = 0; combination < 81 * 2; ++combination) {
    const bool by_pod = combination >= 81;
    PoolBuilder where = pool("default");
    PodBuilder who = pod("p").cpu("1500m");
    Requirements wanted;
    int rest = combination % 81;
    for (std::size_t d = 0; d < keys.size(); ++d, rest /= 3) {
      const std::string& value = dimensions[d][static_cast<std::size_t>(rest % 3)];
      if (value.empty()) {
        continue;
      }
      wanted.add(in(keys[d], {value}));
      if (by_pod) {
        who.selects(keys[d], value);
      } else {
        where.requires_(need(keys[d], Operator::In, {value}));
      }
    }
    double least = 1e9;
    std::size_t possible = 0;
    for (const auto& item : *list) {
      const auto* cheapest = cheapest_offering(item, wanted);
      if (item.allocatable().at("cpu") >= quantity("1500m") && cheapest != nullptr &&
          item.requirements.intersects(wanted)) {
        least = std::min(least, cheapest->price);
        ++possible;
      }
    }
    const Plan plan = ProblemBuilder().add(where, list).add(who).solve();
    ASSERT_THAT(plan.claims, SizeIs(1)) << wanted.to_string();
    EXPECT_EQ(plan.claims[0].price, least) << wanted.to_string();
    EXPECT_EQ(plan.claims[0].instance_types.size(), possible) << wanted.to_string();
    const auto* first = find_type(list, plan.claims[0].instance_types.front());
    EXPECT_EQ(cheapest_offering(*first, wanted)->price, least) << wanted.to_string();
  }
}

TEST(InstanceChoice, NothingMatchesNothingIsBought) {
  const Plan plan =
      ProblemBuilder()
          .add(pool("default").requires_(need(model::kArchLabel, Operator::In, {"arm64"})),
               assorted())
          .add(pod("p").selects(model::kZoneLabel, "zone-c"))
          .solve();
  EXPECT_THAT(plan.refusals, SizeIs(1));
}

TEST(InstanceChoice, AValidTypeIsChosenThoughAnInvalidOneIsCheaper) {
  const auto list = types({type("cheap").cpu("1").price(0.1), type("dear").cpu("8").price(5)});
  const Plan plan = ProblemBuilder().add(pool("default"), list).add(pod("p").cpu("3")).solve();
  EXPECT_THAT(plan.claims.at(0).instance_types, ElementsAre("dear"));
}

TEST(InstanceChoice, SpotPricesDoNotMisleadAnOnDemandRequest) {
  const auto none = std::vector<std::pair<std::string, std::string>>{};
  const auto list = types(
      {type("a").sold(none).sold(offering("z", "spot", 1)).sold(offering("z", "on-demand", 9)),
       type("b").sold(none).sold(offering("z", "spot", 2)).sold(offering("z", "on-demand", 3))});
  const auto first = [&](const char* capacity_type) {
    return ProblemBuilder()
        .add(pool("default"), list)
        .add(pod("p").selects(model::kCapacityTypeLabel, capacity_type))
        .solve()
        .claims.at(0)
        .instance_types.front();
  };
  EXPECT_EQ(first("spot"), "a");
  EXPECT_EQ(first("on-demand"), "b");
}

TEST(InstanceChoice, AnOverriddenOfferingCountsWithItsOwnCapacity) {
  Offering wide = offering("z", "on-demand", 5);
  wide.capacity_override = resources({{"example.com/gpu", "2"}});
  const auto none = std::vector<std::pair<std::string, std::string>>{};
  const auto list =
      types({type("a").sold(none).sold(offering("z", "on-demand", 1)).sold(std::move(wide))});
  const Plan plain = ProblemBuilder().add(pool("default"), list).add(pod("p")).solve();
  EXPECT_EQ(plain.claims.at(0).price, 1);
  EXPECT_THAT(plain.claims.at(0).instance_types, ElementsAre("a"));
  const Plan gpu = ProblemBuilder()
                       .add(pool("default"), list)
                       .add(pod("p").requests("example.com/gpu", "2"))
                       .solve();
  ASSERT_THAT(gpu.claims, SizeIs(1));
  EXPECT_EQ(gpu.claims[0].price, 5);
}

}  // namespace
}  // namespace millwright::scheduling::testing
