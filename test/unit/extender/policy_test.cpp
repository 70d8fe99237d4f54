// What is refused, and why; the same table through filter and through preempt.
#include "unit/extender/world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::extender {
namespace {

using testing::at;
using testing::ClaimBuilder;
using ::testing::ElementsAre;
using testing::hold;
using ::testing::IsEmpty;
using testing::names_request;
using testing::NodeBuilder;
using testing::passing;
using testing::PodBuilder;
using testing::preempt_request;
using testing::refusals;
using ::testing::SizeIs;
using testing::World;

constexpr std::string_view kPasses;

struct Case {
  std::string name;
  std::function<void(World&)> given;
  model::Pod pod;
  std::string node;
  std::string_view expected;
};

model::Pod stray(std::int64_t milli_cpu = 500) {
  return PodBuilder("stray").requests(milli_cpu).value();
}

// Node "n" of 1000m, ready at 0, with 800m held for "planned" until 60.
void held_node(World& world) {
  world.add_young_node("n", 1000, 0);
  world.ledger.hold(hold("planned", "n", 800, 60, 10));
}

// Node "n" of 1000m with 200m held for "planned", and 700m kept for the pods of controller "web" by
// a CapacityBuffer; five minutes later.
void buffered_node(World& world) {
  world.add_young_node("n", 1000, 0);
  world.ledger.hold(hold("planned", "n", 200, 600));
  auto kept = hold("kept", "n", 700, 600);
  kept.kind = scheduling::HoldKind::Buffer;
  kept.pod_uid = "uid-of-buffer-0";
  kept.owner_uid = "web";
  world.ledger.hold(std::move(kept));
  world.now = at(300);
}

model::Pod pod_of_web(std::int64_t milli_cpu) {
  auto pod = PodBuilder("web-1").requests(milli_cpu).value();
  pod.meta.owner_references.push_back({.api_version = "apps/v1",
                                       .kind = "ReplicaSet",
                                       .name = "web",
                                       .uid = "web",
                                       .controller = true});
  return pod;
}

std::vector<Case> cases() {
  const auto daemon = PodBuilder("agent").requests(900).owned_by_daemon_set().value();
  const auto planned = PodBuilder("planned").requests(800).value();
  return {
      {"a node nobody knows", [](World&) {}, stray(), "elsewhere", kPasses},
      {"a node nobody knows, but fenced",
       [](World& w) {
         w.ledger.fence({"elsewhere", "Empty", at(0)});
       },
       stray(), "elsewhere", kBeingRemoved},
      {"a node nobody knows, with holds under its name",
       [](World& w) { w.ledger.hold(hold("planned", "elsewhere", 800, 60)); }, stray(), "elsewhere",
       kPasses},
      {"a fenced node",
       [](World& w) {
         w.add_young_node("n", 1000, 0);
         w.ledger.fence({"n", "Empty", at(0)});
       },
       stray(), "n", kBeingRemoved},
      {"a fenced node and a DaemonSet's pod",
       [](World& w) {
         w.add_young_node("n", 1000, 0);
         w.ledger.fence({"n", "Empty", at(0)});
       },
       daemon, "n", kPasses},
      {"a node whose claim is chosen for removal",
       [](World& w) {
         w.add_young_node("n", 1000, 0);
         w.state.mark_for_deletion("claim-n", true);
       },
       stray(), "n", kBeingRemoved},
      {"a pod's own target that is fenced",
       [](World& w) {
         held_node(w);
         w.ledger.fence({"n", "Empty", at(0)});
       },
       planned, "n", kBeingRemoved},
      {"room held for another pod", held_node, stray(300), "n", kHeldForOthers},
      {"room beside what is held", held_node, stray(200), "n", kPasses},
      {"room held for the pod itself", held_node, planned, "n", kPasses},
      {"room held for another pod and a DaemonSet's pod", held_node, daemon, "n", kPasses},
      {"holds on the claim's name count for its node",
       [](World& w) {
         w.add_young_node("n", 1000, 0);
         w.ledger.hold(hold("planned", "claim-n", 800, 60));
       },
       stray(300), "n", kHeldForOthers},
      {"a hold past its deadline",
       [](World& w) {
         held_node(w);
         w.ledger.set_deadline("n", at(0));
       },
       stray(300), "n", kPasses},
      {"29 seconds after the node could run pods",
       [](World& w) {
         held_node(w);
         w.now = at(29);
       },
       stray(300), "n", kHeldForOthers},
      {"30 seconds after the node could run pods",
       [](World& w) {
         held_node(w);
         w.now = at(30);
       },
       stray(300), "n", kPasses},
      {"room of a buffer, long after the node could run pods", buffered_node, stray(301), "n",
       kHeldForOthers},
      {"room beside a buffer's, where other holds have ended", buffered_node, stray(300), "n",
       kPasses},
      {"room of a buffer for a pod of its owner", buffered_node, pod_of_web(1000), "n", kPasses},
      {"a node that is Ready for long but not initialised yet",
       [](World& w) {
         w.state.upsert(NodeBuilder("n")
                            .label(model::kNodePoolLabel, "default")
                            .label(model::kInstanceTypeLabel, "t")
                            .label(model::kRegisteredLabel, "true")
                            .provider("p")
                            .allocatable(1000)
                            .ready_since(0)
                            .build());
         w.state.upsert(ClaimBuilder("c").provider("p").build());
         w.ledger.hold(hold("planned", "n", 800, 600));
         w.now = at(300);
       },
       stray(300), "n", kHeldForOthers},
      {"a pod of higher priority", held_node,
       PodBuilder("urgent").requests(300).priority(11).value(), "n", kPasses},
      {"a pod of equal priority", held_node, PodBuilder("equal").requests(300).priority(10).value(),
       "n", kHeldForOthers},
      {"a pod of higher priority, when priority does not count",
       [](World& w) {
         held_node(w);
         w.policy.priority_overrides_holds = false;
       },
       PodBuilder("urgent").requests(300).priority(11).value(), "n", kHeldForOthers},
      {"a pod with room held on another node",
       [](World& w) {
         w.add_young_node("n", 1000, 0);
         w.ledger.hold(hold("stray", "claim-in-flight", 500, 60));
       },
       stray(), "n", kHeldElsewhere},
      {"a pod with room held on another node, when it may choose",
       [](World& w) {
         w.add_young_node("n", 1000, 0);
         w.ledger.hold(hold("stray", "claim-in-flight", 500, 60));
         w.policy.pods_keep_to_their_hold = false;
       },
       stray(), "n", kPasses},
      {"a pod whose room elsewhere has expired",
       [](World& w) {
         w.add_young_node("n", 1000, 0);
         w.ledger.hold(hold("stray", "claim-in-flight", 500, 0));
       },
       stray(), "n", kPasses},
      {"a pod whose room is on a node being removed",
       [](World& w) {
         w.add_young_node("n", 1000, 0);
         w.add_young_node("m", 1000, 0);
         w.ledger.hold(hold("stray", "m", 500, 60));
         w.ledger.fence({"m", "Empty", at(0)});
       },
       stray(), "n", kPasses},
      {"a pod whose room is on a claim being removed",
       [](World& w) {
         w.add_young_node("n", 1000, 0);
         w.state.upsert(ClaimBuilder("flying").build());
         w.state.mark_for_deletion("flying", true);
         w.ledger.hold(hold("stray", "flying", 500, 60));
       },
       stray(), "n", kPasses},
      {"a pod whose own node has been up long enough",
       [](World& w) {
         w.add_young_node("n", 1000, 0);
         w.add_young_node("m", 1000, 0);
         w.ledger.hold(hold("stray", "m", 500, 600));
         w.now = at(30);
       },
       stray(), "n", kPasses},
      {"held room that its pod has taken already",
       [](World& w) {
         w.add_young_node("n", 1000, 0);
         w.state.upsert(PodBuilder("planned").on("n").requests(800).build());
         w.state.snapshot();
         w.ledger.hold(hold("planned", "n", 800, 60));  // as read before it was released
       },
       stray(200), "n", kPasses},
      {"room for DaemonSet pods that are still to come",
       [](World& w) {
         w.add_young_node("n", 1000, 0);
         w.ledger.hold(hold("planned", "n", 500, 60));
         model::DaemonSet agent;
         agent.meta.name = "agent";
         agent.pod_template.spec.containers.push_back(
             {.name = "a", .limits = testing::resources(300)});
         w.state.upsert(std::make_shared<const model::DaemonSet>(agent));
         agent.meta.name = "elsewhere";
         agent.pod_template.spec.node_selector.emplace("zone", "other");
         w.state.upsert(std::make_shared<const model::DaemonSet>(agent));
       },
       stray(300), "n", kHeldForOthers},
      {"room beside DaemonSet pods that are still to come",
       [](World& w) {
         w.add_young_node("n", 1000, 0);
         w.ledger.hold(hold("planned", "n", 500, 60));
         model::DaemonSet agent;
         agent.meta.name = "agent";
         agent.pod_template.spec.containers.push_back(
             {.name = "a", .limits = testing::resources(300)});
         w.state.upsert(std::make_shared<const model::DaemonSet>(agent));
       },
       stray(200), "n", kPasses},
      {"room that a pod let through before may take",
       [](World& w) {
         w.add_young_node("n", 1000, 0);
         w.ledger.hold(hold("planned", "n", 500, 60));
         const std::vector<std::string_view> nodes{"n"};
         w.ledger.attempted("uid-first", testing::resources(300), nodes, at(0));
       },
       stray(300), "n", kHeldForOthers},
      {"room that a pod let through before may take on another node",
       [](World& w) {
         w.add_young_node("n", 1000, 0);
         w.ledger.hold(hold("planned", "n", 500, 60));
         const std::vector<std::string_view> nodes{"m"};
         w.ledger.attempted("uid-first", testing::resources(300), nodes, at(0));
       },
       stray(300), "n", kPasses},
      {"the pod let through before is the one that holds the room",
       [](World& w) {
         w.add_young_node("n", 1000, 0);
         w.ledger.hold(hold("planned", "n", 500, 60));
         const std::vector<std::string_view> nodes{"n"};
         w.ledger.attempted("uid-planned", testing::resources(500), nodes, at(0));
       },
       stray(500), "n", kPasses},
      {"room held for the successor of an evicted pod of the same controller",
       [](World& w) {
         w.add_young_node("n", 1000, 0);
         scheduling::Hold heir = hold("evicted", "n", 800, 60);
         heir.kind = scheduling::HoldKind::Successor;
         heir.pod_uid = "uid-evicted";
         heir.owner_uid = "uid-set";
         w.ledger.hold(heir);
       },
       [] {
         model::Pod pod = stray(800);
         pod.meta.owner_references.push_back({.api_version = "apps/v1",
                                              .kind = "ReplicaSet",
                                              .name = "set",
                                              .uid = "uid-set",
                                              .controller = true});
         return pod;
       }(),
       "n", kPasses},
      {"a resource that nobody holds",
       [](World& w) {
         w.add_young_node("n", 1000, 0);
         scheduling::Hold memory_only = hold("planned", "n", 0, 60);
         memory_only.requests = testing::resources(0, 512);
         w.ledger.hold(memory_only);
       },
       stray(5000), "n", kPasses},
      {"the last pod slot",
       [](World& w) {
         w.add_young_node("n", 1000, 0);
         scheduling::Hold slots = hold("planned", "n", 0, 60);
         slots.requests = {{std::string(model::kPods), model::Quantity::from_units(110)}};
         w.ledger.hold(slots);
       },
       stray(1), "n", kHeldForOthers},
  };
}

TEST(ExtenderPolicy, FilterAndPreemptRefuseTheSameForTheSameReason) {
  for (const Case& one : cases()) {
    World world;
    one.given(world);
    const auto extender = world.extender();
    const auto preempted =
        extender.preempt(preempt_request(one.pod, "{\"" + one.node + "\":{\"Pods\":[]}}"));
    const auto filtered = extender.filter(names_request(one.pod, {one.node}));
    ASSERT_EQ(filtered.status, 200) << one.name << ": " << filtered.body;
    if (one.expected == kPasses) {
      EXPECT_THAT(passing(filtered), ElementsAre(one.node)) << one.name;
      EXPECT_THAT(preempted.body, ::testing::HasSubstr(one.node)) << one.name;
      EXPECT_THAT(world.refused, IsEmpty()) << one.name;
    } else {
      EXPECT_EQ(refusals(filtered)[one.node], one.expected) << one.name;
      EXPECT_EQ(preempted.body, R"({"NodeNameToMetaVictims":{}})") << one.name;
      ASSERT_THAT(world.refused, SizeIs(1)) << one.name;
      EXPECT_TRUE(world.refused[0].everywhere);
    }
  }
}

TEST(ExtenderPolicy, PreemptCountsTheRoomThatVictimsFree) {
  World world;
  held_node(world);
  world.state.upsert(PodBuilder("low").on("n").requests(200).priority(-5).build());
  const model::Pod pod = stray(200);
  const auto ask = [&](const std::string& victims) {
    return world.extender().preempt(preempt_request(pod, R"({"n":{"Pods":[)" + victims + "]}}"));
  };
  EXPECT_EQ(ask("").body, R"({"NodeNameToMetaVictims":{}})");
  EXPECT_THAT(ask(R"({"UID":"uid-low"})").body, ::testing::HasSubstr("uid-low"));
}

TEST(ExtenderPolicy, NothingIsRefusedBeforeTheFirstListsAreComplete) {
  World world;
  held_node(world);
  world.ledger.fence({"n", "Empty", at(0)});
  world.state.set_synced(false);
  const auto extender = world.extender();
  EXPECT_THAT(passing(extender.filter(names_request(stray(), {"n"}))), ElementsAre("n"));
  EXPECT_THAT(extender.preempt(preempt_request(stray(), R"({"n":{"Pods":[]}})")).body,
              ::testing::HasSubstr("\"n\""));
  EXPECT_THAT(world.ledger.in_doubt("n", world.now), ElementsAre("uid-stray"));
}

TEST(ExtenderPolicy, FilterReportsAttemptsAndRefusals) {
  World world;
  held_node(world);
  world.add_young_node("free", 1000, 0);
  const auto extender = world.extender();
  extender.filter(names_request(stray(), {"n", "free"}));
  EXPECT_THAT(world.ledger.in_doubt("free", world.now), ElementsAre("uid-stray"));
  EXPECT_THAT(world.ledger.in_doubt("n", world.now), IsEmpty());
  ASSERT_THAT(world.refused, SizeIs(1));
  EXPECT_FALSE(world.refused[0].everywhere);
  extender.filter(names_request(stray(), {"n"}));
  EXPECT_THAT(world.ledger.in_doubt("free", world.now), IsEmpty());
  EXPECT_TRUE(world.refused.back().everywhere);
}

}  // namespace
}  // namespace millwright::extender
