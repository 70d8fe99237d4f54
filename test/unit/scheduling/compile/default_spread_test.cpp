// Default topology spread constraints of a scheduler configuration: for whom they hold, and with
// whom a pod is spread.
#include "unit/scheduling/topology/topology_builders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::scheduling::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

model::TopologySpreadConstraint zonal(std::string when = "DoNotSchedule") {
  return {.max_skew = 1,
          .topology_key = std::string(model::kZoneLabel),
          .when_unsatisfiable = std::move(when)};
}

std::shared_ptr<const model::PodSelector> selecting(std::string kind, std::string name,
                                                    std::optional<model::LabelSelector> selector) {
  auto result = std::make_shared<model::PodSelector>();
  result->kind = std::move(kind);
  result->meta.name = std::move(name);
  result->meta.namespace_ = "default";
  result->selector = std::move(selector);
  return result;
}

auto owned_by(std::string kind, std::string name) {
  return [=](model::Pod& p) {
    p.meta.owner_references.push_back({.kind = kind, .name = name, .controller = true});
  };
}

struct World {
  std::vector<DefaultSpread> defaults;
  std::vector<std::shared_ptr<const model::PodSelector>> selectors;
  std::vector<PodBuilder> pods;

  Problem problem() const {
    ProblemBuilder builder;
    builder.add(pool("main"), three_sizes());
    for (const auto& one : pods) {
      builder.add(one);
    }
    return builder
        .with([this](Problem& p) {
          p.options.default_spread = defaults;
          auto snapshot = std::make_shared<Snapshot>();
          snapshot->pod_selectors = selectors;
          p.cluster = snapshot;
        })
        .problem();
  }
  std::map<std::string, int> zones(std::string_view prefix = "") const {
    const Problem made = problem();
    return per_domain(made, solve(made), model::kZoneLabel, prefix);
  }
};

// Three pods of one ReplicaSet, small enough for one node.
World replica_set(DefaultSpread defaults) {
  World world{{std::move(defaults)},
              {selecting("ReplicaSet", "web-1", matching({{"app", "web"}, {"hash", "1"}}))},
              {}};
  for (const char* name : {"a", "b", "c"}) {
    world.pods.push_back(web(name).label("hash", "1").with(owned_by("ReplicaSet", "web-1")));
  }
  return world;
}

const auto kOneEach =
    UnorderedElementsAre(Pair("test-zone-1", 1), Pair("test-zone-2", 1), Pair("test-zone-3", 1));

TEST(DefaultSpread, ReplicasAreSpreadOverZones) {
  EXPECT_THAT(replica_set({.constraints = {zonal()}}).zones(), kOneEach);
  EXPECT_THAT(replica_set({}).problem().pods, SizeIs(3));
  EXPECT_THAT(solve(replica_set({}).problem()).claims, SizeIs(1));
}

TEST(DefaultSpread, AHostnameConstraintGivesEachPodItsNode) {
  auto hosts = zonal();
  hosts.topology_key = model::kHostnameLabel;
  EXPECT_THAT(solve(replica_set({.constraints = {hosts}}).problem()).claims, SizeIs(3));
}

TEST(DefaultSpread, APodsOwnConstraintTakesTheirPlace) {
  World world = replica_set({.constraints = {zonal()}});
  for (auto& one : world.pods) {
    one.with(spreads(spread_over(model::kCapacityTypeLabel, 9)));
  }
  EXPECT_THAT(solve(world.problem()).claims, SizeIs(1));
}

TEST(DefaultSpread, APodOfNobodyIsNotSpread) {
  World world = replica_set({.constraints = {zonal()}});
  world.selectors.clear();
  EXPECT_THAT(solve(world.problem()).claims, SizeIs(1));
}

TEST(DefaultSpread, DoNotScheduleIsKeptAndScheduleAnywayGivenUp) {
  for (const bool strict : {true, false}) {
    World world =
        replica_set({.constraints = {zonal(strict ? "DoNotSchedule" : "ScheduleAnyway")}});
    for (auto& one : world.pods) {
      one.selects(model::kInstanceTypeLabel, "small");
    }
    Problem problem = world.problem();
    // The pods can only go to the first of two zones: the other is sold out.
    Offering sold_out = offering("test-zone-2", "on-demand", 0.2);
    sold_out.available = false;
    problem.pools = {
        {pool("main"),
         types({type("small").sold({{"test-zone-1", "on-demand"}}).sold(std::move(sold_out))})}};
    const Plan plan = solve(problem);
    EXPECT_EQ(plan.refusals.size(), strict ? 2U : 0U);
    if (strict) {
      EXPECT_THAT(plan.refusals[0].reason,
                  HasSubstr("must be spread over topology.kubernetes.io/zone"));
    }
  }
}

TEST(DefaultSpread, MinDomainsIsCarried) {
  auto constraint = zonal();
  constraint.min_domains = 4;
  EXPECT_THAT(solve(replica_set({.constraints = {constraint}}).problem()).refusals, SizeIs(0));
  World five = replica_set({.constraints = {constraint}});
  for (const char* name : {"d", "e"}) {
    five.pods.push_back(web(name).label("hash", "1").with(owned_by("ReplicaSet", "web-1")));
  }
  // Three zones where four are wanted: none may have a second pod.
  EXPECT_THAT(solve(five.problem()).refusals, SizeIs(2));
}

TEST(DefaultSpread, EachRevisionOfADeploymentIsSpreadByItself) {
  World world = replica_set({.constraints = {zonal()}});
  world.selectors.push_back(
      selecting("ReplicaSet", "web-2", matching({{"app", "web"}, {"hash", "2"}})));
  for (const char* name : {"x", "y", "z"}) {
    world.pods.push_back(web(name).label("hash", "2").with(owned_by("ReplicaSet", "web-2")));
  }
  EXPECT_THAT(world.zones("a"), SizeIs(1));
  for (const auto& prefixes : {std::vector{"a", "b", "c"}, std::vector{"x", "y", "z"}}) {
    std::map<std::string, int> zones;
    for (const char* prefix : prefixes) {
      for (const auto& [zone, count] : world.zones(prefix)) {
        zones[zone] += count;
      }
    }
    EXPECT_THAT(zones, kOneEach);
  }
}

TEST(DefaultSpread, AServiceIsEnough) {
  World world{{{.constraints = {zonal()}}},
              {selecting("Service", "web", matching({{"app", "web"}})),
               selecting("Service", "headless", std::nullopt),
               selecting("Service", "db", matching({{"app", "db"}}))},
              {web("a"), web("b"), web("c")}};
  EXPECT_THAT(world.zones(), kOneEach);
  world.selectors.erase(world.selectors.begin());  // what is left selects none of them
  EXPECT_THAT(solve(world.problem()).claims, SizeIs(1));
}

TEST(DefaultSpread, EveryKindOfControllerCounts) {
  for (const char* kind : {"ReplicationController", "ReplicaSet", "StatefulSet"}) {
    World world{
        {{.constraints = {zonal()}}}, {selecting(kind, "web", matching({{"app", "web"}}))}, {}};
    for (const char* name : {"a", "b", "c"}) {
      world.pods.push_back(web(name).with(owned_by(kind, "web")));
    }
    EXPECT_THAT(world.zones(), kOneEach) << kind;
  }
  World job{
      {{.constraints = {zonal()}}}, {selecting("Job", "web", matching({{"app", "web"}}))}, {}};
  job.pods = {web("a").with(owned_by("Job", "other")), web("b").with(owned_by("Job", "other"))};
  EXPECT_THAT(solve(job.problem()).claims, SizeIs(1));
}

TEST(DefaultSpread, AServiceAndAControllerNarrowEachOther) {
  // The Service selects by app alone; the ReplicaSet's hash keeps the other revision out.
  World world = replica_set({.constraints = {zonal()}});
  world.selectors.push_back(selecting("Service", "web", matching({{"app", "web"}})));
  const Problem problem = world.problem();
  EXPECT_THAT(world.zones(), kOneEach);
  EXPECT_THAT(solve(problem).refusals, SizeIs(0));
}

TEST(DefaultSpread, AProfileHoldsForItsOwnPods) {
  World world = replica_set({.scheduler_name = "racks", .constraints = {zonal()}});
  EXPECT_THAT(solve(world.problem()).claims, SizeIs(1));  // those are the default scheduler's
  for (auto& one : world.pods) {
    one.with([](model::Pod& p) { p.spec.scheduler_name = "racks"; });
  }
  EXPECT_THAT(world.zones(), kOneEach);
}

TEST(DefaultSpread, ThePodThatWasPlannedIsNamedByItsUid) {
  const Problem problem = replica_set({.constraints = {zonal()}}).problem();
  const Plan plan = solve(problem);
  ASSERT_THAT(plan.placements, SizeIs(3));
  EXPECT_EQ(plan.placements[0].pod_uid, "a");
  EXPECT_TRUE(problem.pods[0]->spec.topology_spread.empty());  // the input is nobody's to change
}

}  // namespace
}  // namespace millwright::scheduling::testing
