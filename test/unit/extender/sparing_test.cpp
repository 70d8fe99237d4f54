// Provision instead of preempt: when victims are spared, and when no longer.
#include "unit/extender/world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::extender {
namespace {

using testing::at;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::PodBuilder;
using testing::preempt_request;
using ::testing::SizeIs;
using testing::World;

constexpr const char* kAnnotation = "millwright.io/provision-instead-of-preempt";

model::Pod urgent(const std::string& spare_for) {
  model::Pod pod = PodBuilder("urgent").requests(500).priority(10).value();
  pod.meta.creation_timestamp = at(100);
  if (!spare_for.empty()) {
    pod.meta.annotations.emplace(kAnnotation, spare_for);
  }
  return pod;
}

model::NodePool ready_pool() {
  model::NodePool pool;
  pool.meta.name = "default";
  pool.conditions.push_back({.type = "Ready", .status = model::ConditionStatus::True});
  return pool;
}

// A full node and a pool without limits, ten seconds after the pod was created.
struct FullWorld : World {
  FullWorld() {
    now = at(110);
    add_young_node("n", 1000, 0);
    state.upsert(PodBuilder("low").on("n").requests(1000).build());
    put(ready_pool());
  }
  void put(const model::NodePool& pool) {
    state.upsert(std::make_shared<const model::NodePool>(pool));
  }
  bool spares(const model::Pod& pod) {
    const auto reply =
        extender().preempt(preempt_request(pod, R"({"n":{"Pods":[{"UID":"uid-low"}]}})"));
    EXPECT_EQ(reply.status, 200);
    if (reply.body == R"({"NodeNameToMetaVictims":{}})") {
      return true;
    }
    EXPECT_THAT(reply.body, HasSubstr("uid-low"));
    return false;
  }
};

TEST(ExtenderSparing, IsOffByDefault) {
  FullWorld world;
  EXPECT_FALSE(world.spares(urgent("")));
  EXPECT_FALSE(world.spares(urgent("0s")));
  EXPECT_THAT(world.spared, IsEmpty());
  EXPECT_THAT(world.problems, IsEmpty());
}

TEST(ExtenderSparing, LastsForTheTimeSinceThePodsCreationAndTellsWhatToBuy) {
  FullWorld world;
  EXPECT_TRUE(world.spares(urgent("2m")));
  EXPECT_THAT(world.spared, ElementsAre("uid-urgent"));
  world.now = at(220) - base::Duration(1);
  EXPECT_TRUE(world.spares(urgent("2m")));
  world.now = at(220);
  EXPECT_FALSE(world.spares(urgent("2m")));
  EXPECT_THAT(world.spared, SizeIs(2));
  EXPECT_TRUE(world.spares(urgent("2562047h"))) << "the longest time that there is";
}

TEST(ExtenderSparing, IsForAllPodsOfAPriorityClassUnlessTheySayOtherwise) {
  FullWorld world;
  for (const char* const name : {"batch", "urgent", "vital"}) {
    model::PriorityClass priority_class;
    priority_class.meta.name = name;
    if (priority_class.meta.name == "urgent") {
      priority_class.meta.annotations.emplace(kAnnotation, "2m");
    }
    world.state.upsert(std::make_shared<const model::PriorityClass>(priority_class));
  }
  const auto of_class = [](const std::string& name, const std::string& own) {
    model::Pod pod = urgent(own);
    pod.spec.priority_class_name = name;
    return pod;
  };
  EXPECT_TRUE(world.spares(of_class("urgent", "")));
  EXPECT_FALSE(world.spares(of_class("urgent", "5s")));
  EXPECT_FALSE(world.spares(of_class("vital", "")));
  EXPECT_FALSE(world.spares(of_class("zzz", "")));
  EXPECT_TRUE(world.spares(of_class("vital", "2m")));
}

TEST(ExtenderSparing, EndsWhenThePlanHasNoPlaceForThePod) {
  FullWorld world;
  world.can_be_bought = false;
  EXPECT_FALSE(world.spares(urgent("2m")));
  EXPECT_THAT(world.spared, IsEmpty());
}

TEST(ExtenderSparing, NeedsAPoolThatMayGrow) {
  const auto spares_with = [](const std::function<void(model::NodePool&)>& change) {
    FullWorld world;
    model::NodePool pool = ready_pool();
    change(pool);
    world.put(pool);
    return world.spares(urgent("2m"));
  };
  const auto used = [](std::int64_t milli_cpu, std::int64_t nodes) {
    return [milli_cpu, nodes](model::NodePool& pool) {
      pool.limits = testing::resources(1000);
      pool.limits->emplace(model::kNodes, model::Quantity::from_units(2));
      pool.resources = testing::resources(milli_cpu);
      pool.resources.emplace(model::kNodes, model::Quantity::from_units(nodes));
    };
  };
  EXPECT_TRUE(spares_with([](model::NodePool&) {}));
  EXPECT_TRUE(spares_with(used(500, 1)));
  EXPECT_FALSE(spares_with(used(501, 1))) << "the pod needs 500m";
  EXPECT_FALSE(spares_with(used(500, 2))) << "no node more";
  EXPECT_FALSE(spares_with([](model::NodePool& pool) { pool.conditions.clear(); }));
  EXPECT_FALSE(spares_with([](model::NodePool& pool) { pool.replicas = 3; }));
}

TEST(ExtenderSparing, IsNotForPodsThatNothingIsBoughtFor) {
  FullWorld world;
  model::Pod nominated = urgent("2m");
  nominated.status.nominated_node_name = "n";
  EXPECT_FALSE(world.spares(nominated));
  model::Pod daemon = PodBuilder("agent").owned_by_daemon_set().value();
  daemon.meta.creation_timestamp = at(100);
  daemon.meta.annotations.emplace(kAnnotation, "2m");
  EXPECT_FALSE(world.spares(daemon));
  world.state.set_synced(false);
  EXPECT_FALSE(world.spares(urgent("2m"))) << "nobody knows yet what can be bought";
}

TEST(ExtenderSparing, AnAnnotationThatIsNoDurationIsToldOnceAndIgnored) {
  FullWorld world;
  const auto extender = world.extender();
  for (const char* const text : {"soon", "-2m"}) {
    for (int i = 0; i < 2; ++i) {
      EXPECT_THAT(
          extender.preempt(preempt_request(urgent(text), R"({"n":{"Pods":[{"UID":"uid-low"}]}})"))
              .body,
          HasSubstr("uid-low"));
    }
  }
  ASSERT_THAT(world.problems, SizeIs(2));
  EXPECT_THAT(world.problems[0], HasSubstr("Pod default/urgent"));
  EXPECT_THAT(world.problems[0], HasSubstr("\"soon\" is not a duration"));
  EXPECT_THAT(world.spared, IsEmpty());
}

}  // namespace
}  // namespace millwright::extender
