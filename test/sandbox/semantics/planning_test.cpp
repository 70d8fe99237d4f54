// What the planner decides, seen from outside: events on pods, and where pods end up.
#include "sandbox/semantics/semantics_fixture.hpp"

namespace millwright::test {
namespace {

TEST_F(Semantics, APodWithResourceClaimsIsRefusedWithAnEvent) {
  create(pool("default", ""));
  create(deployment("trainer", 1, "cpu: 1",
                    "      resourceClaims: [{name: gpu, resourceClaimName: gpu}]\n"));
  create(deployment("web", 1, "cpu: 1"));
  ASSERT_TRUE(soon([&] { return running("web") == 1; }));
  EXPECT_THAT(events_of("trainer", "FailedScheduling"),
              testing::Contains(testing::AllOf(
                  testing::StartsWith("Failed to schedule pod, it needs resource claims (DRA)"),
                  testing::HasSubstr("request the device as an extended resource"))));
  EXPECT_EQ(running("trainer"), 0U);
  EXPECT_EQ(claims(), 1U) << "nothing is bought for a pod that is not planned";
}

// 33 CPUs cost least as two machines, unless a node costs more than that saves.
TEST_F(Semantics, WhatANodeCostsBesideItsInstanceDecidesHowManyAreBought) {
  create(pool("default", ""));
  create(deployment("web", 33, "cpu: 1"));
  ASSERT_TRUE(soon([&] { return running("web") == 33; }));
  EXPECT_EQ(claims(), 2U);
}

TEST_F(Semantics, ANodePoolSaysWhatANodeCostsBesideItsInstance) {
  create(pool("default", ""));
  edit(model::kNodePoolResource, "default", [](json::value& object) {
    object.at("metadata").as_object()["annotations"] = {{model::kNodeOverheadAnnotation, "1"}};
  });
  create(deployment("web", 33, "cpu: 1"));
  ASSERT_TRUE(soon([&] { return running("web") == 33; }));
  EXPECT_EQ(claims(), 1U);
}

TEST_F(Semantics, ANodePoolSaysHowMuchDearerATypeMayBeThanTheCheapest) {
  create(pool("default", ""));
  edit(model::kNodePoolResource, "default", [](json::value& object) {
    object.at("metadata").as_object()["annotations"] = {{model::kMaxPriceRatioAnnotation, "1"}};
  });
  create(deployment("web", 1, "cpu: 1"));
  ASSERT_TRUE(soon([&] { return running("web") == 1; }));
  ASSERT_EQ(claims(), 1U);
  const auto& claim = *cluster_.cluster->world().recorder().claims().begin()->second.last;
  const auto wanted = std::find_if(
      claim.requirements.begin(), claim.requirements.end(),
      [](const auto& requirement) { return requirement.key == model::kInstanceTypeLabel; });
  ASSERT_NE(wanted, claim.requirements.end());
  EXPECT_LE(wanted->values.size(), 4U);  // two architectures, two operating systems
}

TEST_F(Semantics, PodsWhoseSidecarsShareAHostPortGetANodeEach) {
  create(pool("default", ""));
  create(deployment("web", 2, "cpu: 100m",
                    "      initContainers: [{name: proxy, image: proxy, restartPolicy: Always, "
                    "ports: [{containerPort: 80, hostPort: 80}]}]\n"));
  EXPECT_TRUE(soon([&] { return running("web") == 2; }));
  EXPECT_EQ(claims(), 2U);
}

// Nobody ever tries the pods of a scheduler that is not there.
TEST_F(Semantics, PodsThatNobodyTriesAreNotBoughtForWithOthers) {
  create(pool("default", ""));
  create(deployment("phantom", 4, "cpu: 1", "      schedulerName: another\n"));
  cluster_.loop.run_for(minutes(2));
  create(deployment("web", 1, "cpu: 1"));
  ASSERT_TRUE(soon([&] { return running("web") == 1; }));
  ASSERT_EQ(claims(), 1U);
  const auto& claim = *cluster_.cluster->world().recorder().claims().begin()->second.last;
  EXPECT_LT(model::get(claim.requests, model::kCpu), model::Quantity::from_units(2));
}

// A NodePool that changes while a plan for one pod is being made.
class PoolMeanwhile : public Semantics {
 protected:
  PoolMeanwhile() {
    create(pool("default", ""));
    cluster_.loop.run_for(seconds(5));
    cluster_.compute.pause_plans();
    create(deployment("web", 1, "cpu: 1"));
    EXPECT_TRUE(soon([&] { return cluster_.compute.held_plans() == 1; }));
  }
  void go_on() {
    cluster_.loop.run_for(seconds(1));
    cluster_.compute.resume_plans();
  }
};

TEST_F(PoolMeanwhile, EditedIsBoughtFromAsItIsNow) {
  edit(model::kNodePoolResource, "default", [](json::value& object) {
    object.at("spec").at("template").as_object()["metadata"] = {{"labels", {{"edition", "new"}}}};
  });
  go_on();
  ASSERT_TRUE(soon([&] { return running("web") == 1; }));
  ASSERT_EQ(claims(), 1U);
  const auto& claim = *cluster_.cluster->world().recorder().claims().begin()->second.last;
  EXPECT_EQ(claim.meta.label("edition"), "new");
}

TEST_F(PoolMeanwhile, LimitedIsNotBoughtFromBeyondItsLimit) {
  edit(model::kNodePoolResource, "default", [](json::value& object) {
    object.at("spec").as_object()["limits"] = {{"cpu", "0"}};
  });
  go_on();
  cluster_.loop.run_for(seconds(10));
  EXPECT_EQ(claims(), 0U);
}

TEST_F(PoolMeanwhile, DeletedIsNotBoughtFrom) {
  ASSERT_TRUE(api().remove(model::kNodePoolResource, {"", "default"}));
  go_on();
  cluster_.loop.run_for(seconds(10));
  EXPECT_EQ(claims(), 0U);
}

TEST_F(PoolMeanwhile, WhoseMetadataChangedIsBoughtFromWithoutAnotherPlan) {
  edit(model::kNodePoolResource, "default", [](json::value& object) {
    object.at("metadata").as_object()["labels"] = {{"team", "a"}};
  });
  cluster_.loop.run_for(seconds(1));
  cluster_.compute.resume_plans();
  cluster_.compute.pause_plans();
  EXPECT_TRUE(soon([&] { return claims() == 1; }, seconds(5)));
  cluster_.compute.resume_plans();
}

class SmallAllowance : public Semantics {
 protected:
  SmallAllowance()
      : Semantics([] {
          auto options = gated();
          options.controllers.solve.allowance = 1500;
          return options;
        }()) {}
};

TEST_F(SmallAllowance, PlansFollowEachOtherUntilAllPodsHaveRoom) {
  create(pool("default", ""));
  for (int i = 0; i < 40; ++i) {
    create(deployment("web" + std::to_string(i), 1, "cpu: " + std::to_string(1500 - i) + "m"));
  }
  const auto all_run = [&] {
    int count = 0;
    for (int i = 0; i < 40; ++i) {
      count += running("web" + std::to_string(i)) == 1 ? 1 : 0;
    }
    return count == 40;
  };
  ASSERT_TRUE(soon(all_run, minutes(1)));
  const auto decisions = cluster_.cluster->engine().decisions().all();
  EXPECT_TRUE(std::any_of(decisions.begin(), decisions.end(), [](const auto& decision) {
    return decision->message.find("left for the next plan") != std::string::npos;
  })) << "one plan was enough, so this shows nothing";
  for (int i = 0; i < 40; ++i) {
    EXPECT_THAT(events_of("web" + std::to_string(i), "FailedScheduling"),
                testing::Not(testing::Contains(testing::HasSubstr("next plan"))));
  }
  EXPECT_LT(claims(), 10U) << "each plan fills what those before it have bought";
}

class DefaultSpread : public Semantics {
 protected:
  DefaultSpread()
      : Semantics([] {
          auto options = gated();
          const model::TopologySpreadConstraint zones{
              .max_skew = 1,
              .topology_key = std::string(model::kZoneLabel),
              .when_unsatisfiable = "DoNotSchedule"};
          options.controllers.solve.default_spread = {{.constraints = {zones}}};
          return options;
        }()) {}
};

TEST_F(DefaultSpread, PlansReplicasApartThatSayNothingAboutIt) {
  create(pool("default", ""));
  create(deployment("web", 4, "cpu: 100m"));
  const auto zones = [&] {
    std::set<std::string> result;
    for (const auto& record : snapshot()->nodes) {
      if (const auto zone = record->labels().find(model::kZoneLabel);
          zone != record->labels().end()) {
        result.insert(zone->second);
      }
    }
    return result.size();
  };
  EXPECT_TRUE(soon([&] { return zones() == 4; })) << "the kwok catalog has four zones";
  EXPECT_TRUE(soon([&] { return running("web") == 4; }));
}

}  // namespace
}  // namespace millwright::test
