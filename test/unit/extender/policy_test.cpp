// What is refused, and why; the same table through filter and through preempt.
#include "unit/extender/world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::extender {
namespace {

using testing::at;
using testing::ClaimBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::names_request;
using testing::NodeBuilder;
using testing::pass_of;
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

// Node "n" of 1000m, with 800m reserved for "planned" until 60.
void reserved_node(World& world) {
  world.add_young_node("n", 1000, 0);
  world.keep(PodBuilder("planned").requests(800).priority(10), "n", 60);
}

model::Pod pod_of_web(std::int64_t milli_cpu) {
  return PodBuilder("web-1").requests(milli_cpu).owned_by("web").value();
}

// Node "n" of 1000m with 200m reserved for "planned" until 60, and 700m for any pods of the
// controller "web" by a CapacityBuffer.
void buffered_node(World& world) {
  world.add_young_node("n", 1000, 0);
  world.keep(PodBuilder("planned").requests(200), "n", 60);
  auto buffer = testing::reservation_for(pod_of_web(700), "n", 600);
  buffer.group = scheduling::GroupId::of_owner("web");
  buffer.of_buffer = true;
  world.ledger.reserve(std::move(buffer));
}

// The same when "planned" has not come in time.
void buffered_node_later(World& world) {
  buffered_node(world);
  world.now = at(300);
}

// Node "n" of 1000m, with 800m reserved for any pods of priority 10 and above.
void open_node(World& world) {
  world.add_young_node("n", 1000, 0);
  auto buffer = testing::reservation_for(pod_of_web(800), "n", 600);
  buffer.group = scheduling::GroupId::of_owner("buffer");
  buffer.priority = 10;
  buffer.of_buffer = true;
  buffer.open = true;
  world.ledger.reserve(std::move(buffer));
}

// Node "n" of 1000m, with 500m reserved for "planned".
void half_reserved_node(World& world) {
  world.add_young_node("n", 1000, 0);
  world.keep(PodBuilder("planned").requests(500), "n", 60);
}

// A pod of 300m that was let through to the node.
cluster::Pass first_on(const std::string& node) {
  return pass_of(PodBuilder("first").requests(300).value(), {node}, 0);
}

// 400m of node "n" for one of two pods of "set".
std::vector<model::Pod> node_for_one_of_two(World& world) {
  world.add_young_node("n", 1000, 0);
  const auto pods = world.add_waiting("set", 2, 400);
  world.ledger.reserve(testing::reservation_for(pods[0], "n", 60));
  return pods;
}

// Room for the only pod in need of it is on another target.
void room_elsewhere(World& world, const std::string& target, std::int64_t until = 60) {
  world.add_young_node("n", 1000, 0);
  world.keep(PodBuilder("stray").requests(500), target, until);
}

std::vector<Case> cases() {
  const auto daemon = PodBuilder("agent").requests(900).owned_by_daemon_set().value();
  const auto planned = PodBuilder("planned").requests(800).priority(10).value();
  return {
      {"a node nobody knows", [](World&) {}, stray(), "elsewhere", kPasses},
      {"a node nobody knows, but fenced",
       [](World& w) {
         w.ledger.fence({"elsewhere", "Empty", at(0)});
       },
       stray(), "elsewhere", kBeingRemoved},
      {"a node nobody knows, with reservations under its name",
       [](World& w) { w.keep(PodBuilder("planned").requests(800), "elsewhere", 60); }, stray(),
       "elsewhere", kPasses},
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
         reserved_node(w);
         w.ledger.fence({"n", "Empty", at(0)});
       },
       planned, "n", kBeingRemoved},
      {"room reserved for another pod", reserved_node, stray(300), "n", kReservedForOthers},
      {"room beside what is reserved", reserved_node, stray(200), "n", kPasses},
      {"room reserved for the pod itself", reserved_node, planned, "n", kPasses},
      {"room reserved for another pod and a DaemonSet's pod", reserved_node, daemon, "n", kPasses},
      {"reservations on the claim's name count for its node",
       [](World& w) {
         w.add_young_node("n", 1000, 0);
         w.keep(PodBuilder("planned").requests(800), "claim-n", 60);
       },
       stray(300), "n", kReservedForOthers},
      {"one moment before the reservation ends",
       [](World& w) {
         reserved_node(w);
         w.now = at(60) - base::Duration(1);
       },
       stray(300), "n", kReservedForOthers},
      {"when the reservation ends",
       [](World& w) {
         reserved_node(w);
         w.now = at(60);
       },
       stray(300), "n", kPasses},
      {"room reserved until another end",
       [](World& w) {
         reserved_node(w);
         w.ledger.set_end("n", at(10));
         w.now = at(10);
       },
       stray(300), "n", kPasses},
      {"room of a buffer and of a pod", buffered_node, stray(101), "n", kReservedForOthers},
      {"room beside both", buffered_node, stray(100), "n", kPasses},
      {"room of a buffer for a pod of its owner", buffered_node, pod_of_web(800), "n", kPasses},
      {"room of a buffer for a pod of its owner, not what others have reserved", buffered_node,
       pod_of_web(801), "n", kReservedForOthers},
      {"room of a buffer when other reservations have ended", buffered_node_later, stray(301), "n",
       kReservedForOthers},
      {"room beside a buffer's when other reservations have ended", buffered_node_later, stray(300),
       "n", kPasses},
      {"room beside a buffer's that its owner's pod is on the way to",
       [](World& w) {
         buffered_node_later(w);
         w.ledger.attempted(pass_of(pod_of_web(700), {"n"}, 300));
       },
       stray(300), "n", kPasses},
      {"open room of a buffer, for a pod of lower priority", open_node,
       PodBuilder("low").requests(300).priority(9).value(), "n", kReservedForOthers},
      {"beside open room of a buffer", open_node,
       PodBuilder("low").requests(200).priority(9).value(), "n", kPasses},
      {"open room of a buffer, for a pod of its priority", open_node,
       PodBuilder("equal").requests(300).priority(10).value(), "n", kPasses},
      {"open room of a buffer, for a pod of higher priority", open_node,
       PodBuilder("urgent").requests(300).priority(11).value(), "n", kPasses},
      {"open room of a buffer, when priority does not count",
       [](World& w) {
         open_node(w);
         w.policy.priority_overrides_reservations = false;
       },
       PodBuilder("equal").requests(300).priority(10).value(), "n", kPasses},
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
         w.keep(PodBuilder("planned").requests(800), "n", 600);
         w.now = at(300);
       },
       stray(300), "n", kReservedForOthers},
      {"a pod of higher priority", reserved_node,
       PodBuilder("urgent").requests(300).priority(11).value(), "n", kPasses},
      {"a pod of equal priority", reserved_node,
       PodBuilder("equal").requests(300).priority(10).value(), "n", kReservedForOthers},
      {"a pod of higher priority, when priority does not count",
       [](World& w) {
         reserved_node(w);
         w.policy.priority_overrides_reservations = false;
       },
       PodBuilder("urgent").requests(300).priority(11).value(), "n", kReservedForOthers},
      {"a pod with room reserved on another node",
       [](World& w) { room_elsewhere(w, "claim-in-flight"); }, stray(), "n", kReservedElsewhere},
      {"a pod with room reserved on another node, when it may choose",
       [](World& w) {
         room_elsewhere(w, "claim-in-flight");
         w.policy.pods_keep_to_their_room = false;
       },
       stray(), "n", kPasses},
      {"a pod with room reserved on another node, and a node nobody knows",
       [](World& w) { room_elsewhere(w, "claim-in-flight"); }, stray(), "elsewhere", kPasses},
      {"a pod whose room elsewhere has expired",
       [](World& w) { room_elsewhere(w, "claim-in-flight", 0); }, stray(), "n", kPasses},
      {"a pod whose room is on a node being removed",
       [](World& w) {
         w.add_young_node("m", 1000, 0);
         room_elsewhere(w, "m");
         w.ledger.fence({"m", "Empty", at(0)});
       },
       stray(), "n", kPasses},
      {"a pod whose room is on a claim being removed",
       [](World& w) {
         w.state.upsert(ClaimBuilder("flying").build());
         w.state.mark_for_deletion("flying", true);
         room_elsewhere(w, "flying");
       },
       stray(), "n", kPasses},
      {"a pod whose group needs more than is reserved",
       [](World& w) {
         w.add_young_node("n", 1000, 0);
         const auto pods = w.add_waiting("set", 2, 500);
         w.ledger.reserve(testing::reservation_for(pods[0], "claim-in-flight", 60));
       },
       PodBuilder("set-1").requests(500).owned_by("set").value(), "n", kPasses},
      {"a pod whose group has all it needs on two targets",
       [](World& w) {
         w.add_young_node("n", 1000, 0);
         const auto pods = w.add_waiting("set", 2, 500);
         w.ledger.reserve(testing::reservation_for(pods[0], "claim-1", 60));
         w.ledger.reserve(testing::reservation_for(pods[0], "claim-2", 60));
       },
       PodBuilder("set-1").requests(500).owned_by("set").value(), "n", kReservedElsewhere},
      {"a pod of another group of the same controller",
       [](World& w) {
         w.add_young_node("n", 1000, 0);
         const auto pods = w.add_waiting("set", 1, 500);
         w.ledger.reserve(testing::reservation_for(pods[0], "claim-in-flight", 60));
       },
       PodBuilder("large").requests(600).owned_by("set").value(), "n", kPasses},
      {"room for DaemonSet pods that are still to come",
       [](World& w) {
         w.add_young_node("n", 1000, 0);
         w.keep(PodBuilder("planned").requests(500), "n", 60);
         model::DaemonSet agent;
         agent.meta.name = "agent";
         agent.pod_template.spec.containers.push_back(
             {.name = "a", .limits = testing::resources(300)});
         w.state.upsert(std::make_shared<const model::DaemonSet>(agent));
         agent.meta.name = "elsewhere";
         agent.pod_template.spec.node_selector.emplace("zone", "other");
         w.state.upsert(std::make_shared<const model::DaemonSet>(agent));
       },
       stray(300), "n", kReservedForOthers},
      {"room beside DaemonSet pods that are still to come",
       [](World& w) {
         w.add_young_node("n", 1000, 0);
         w.keep(PodBuilder("planned").requests(500), "n", 60);
         model::DaemonSet agent;
         agent.meta.name = "agent";
         agent.pod_template.spec.containers.push_back(
             {.name = "a", .limits = testing::resources(300)});
         w.state.upsert(std::make_shared<const model::DaemonSet>(agent));
       },
       stray(200), "n", kPasses},
      {"room that a pod let through before may take",
       [](World& w) {
         half_reserved_node(w);
         w.ledger.attempted(first_on("n"));
       },
       stray(300), "n", kReservedForOthers},
      {"room that a pod let through before can take no more",
       [](World& w) {
         half_reserved_node(w);
         w.ledger.attempted(first_on("n"));
         w.now = at(0) + cluster::Ledger::kPassLifetime;
       },
       stray(300), "n", kPasses},
      {"room that a pod let through before may take on another node",
       [](World& w) {
         half_reserved_node(w);
         w.ledger.attempted(first_on("m"));
       },
       stray(300), "n", kPasses},
      {"the pod let through before is the one that has the room",
       [](World& w) {
         half_reserved_node(w);
         w.ledger.attempted(pass_of(PodBuilder("planned").requests(500).value(), {"n"}, 0));
       },
       stray(500), "n", kPasses},
      {"of two pods let through before one has the room",
       [](World& w) {
         for (const auto& pod : node_for_one_of_two(w)) {
           w.ledger.attempted(pass_of(pod, {"n"}, 0));
         }
       },
       stray(201), "n", kReservedForOthers},
      {"room beside two pods let through before, one of which has the room",
       [](World& w) {
         for (const auto& pod : node_for_one_of_two(w)) {
           w.ledger.attempted(pass_of(pod, {"n"}, 0));
         }
       },
       stray(200), "n", kPasses},
      {"the last room of its group, which another pod is on the way to, beside others'",
       [](World& w) {
         const auto pods = node_for_one_of_two(w);
         w.keep(PodBuilder("planned").requests(600), "n", 60);
         w.ledger.attempted(pass_of(pods[0], {"n"}, 0));
       },
       PodBuilder("set-1").requests(400).owned_by("set").value(), "n", kReservedForOthers},
      {"room reserved for an evicted pod, for the pod that comes in its place",
       [](World& w) {
         w.add_young_node("n", 1000, 0);
         w.add_young_node("old", 1000, 0);
         const auto evicted = PodBuilder("set-0").requests(800).owned_by("set").on("old");
         w.state.upsert(evicted.build());
         w.state.mark_for_deletion("claim-old", true);
         w.ledger.reserve(testing::reservation_for(evicted.value(), "n", 60));
       },
       PodBuilder("set-1").requests(800).owned_by("set").value(), "n", kPasses},
      {"a resource that nobody has reserved",
       [](World& w) {
         w.add_young_node("n", 1000, 0);
         const auto needs_memory = PodBuilder("planned").requests(0, 512);
         w.state.upsert(needs_memory.build());
         auto memory_only = testing::reservation_for(needs_memory.value(), "n", 60);
         memory_only.requests = testing::resources(0, 512);
         w.ledger.reserve(memory_only);
       },
       stray(5000), "n", kPasses},
      {"the last pod slot",
       [](World& w) {
         w.add_young_node("n", 1000, 0);
         const auto pods = w.add_waiting("set", 110, 0);
         w.ledger.reserve(testing::reservation_for(pods[0], "n", 60, 110));
       },
       stray(1), "n", kReservedForOthers},
      {"the last pod slot but one",
       [](World& w) {
         w.add_young_node("n", 1000, 0);
         const auto pods = w.add_waiting("set", 110, 0);
         w.ledger.reserve(testing::reservation_for(pods[0], "n", 60, 109));
       },
       stray(1), "n", kPasses},
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
      EXPECT_EQ(world.refused[0].pod.uid, one.pod.meta.uid) << one.name;
    }
  }
}

TEST(ExtenderPolicy, PreemptCountsTheRoomThatVictimsFree) {
  World world;
  reserved_node(world);
  world.state.upsert(PodBuilder("low").on("n").requests(200).priority(-5).build());
  const model::Pod pod = stray(200);
  const auto ask = [&](const std::string& victims) {
    return world.extender().preempt(preempt_request(pod, R"({"n":{"Pods":[)" + victims + "]}}"));
  };
  EXPECT_EQ(ask("").body, R"({"NodeNameToMetaVictims":{}})");
  EXPECT_THAT(ask(R"({"UID":"uid-low"})").body, ::testing::HasSubstr("uid-low"));
}

// What it left when it was let through last is not another pod's.
TEST(ExtenderPolicy, APodIsNotInItsOwnWay) {
  World world;
  half_reserved_node(world);
  const model::Pod pod = stray(500);
  world.ledger.attempted(pass_of(pod, {"n"}, 0));
  const auto extender = world.extender();
  EXPECT_THAT(extender.preempt(preempt_request(pod, R"({"n":{"Pods":[]}})")).body,
              ::testing::HasSubstr("\"n\""));
  EXPECT_THAT(passing(extender.filter(names_request(pod, {"n"}))), ElementsAre("n"));
}

// The room that they use must be counted once, whoever they are.
TEST(ExtenderPolicy, PodsOfManyGroupsOnTheirWayTakeWhatIsFreeBesideReservations) {
  for (const bool one_more : {false, true}) {
    World world;
    world.add_young_node("n", 1000, 0);
    world.keep(PodBuilder("planned").requests(300), "n", 60);
    const auto pods = world.add_waiting("set", 2, 100);
    world.ledger.reserve(testing::reservation_for(pods[0], "n", 60));
    for (const model::Pod& pod : pods) {
      world.ledger.attempted(pass_of(pod, {"n", "m"}, 0));  // one of them uses what is reserved
    }
    for (int i = 0; i < (one_more ? 5 : 4); ++i) {
      world.ledger.attempted(
          pass_of(PodBuilder("job-" + std::to_string(i)).requests(50).value(), {"m", "n"}, 0));
    }
    // 1000 less 300, 100 and 100, and 50 for each job.
    EXPECT_EQ(passing(world.extender().filter(names_request(stray(300), {"n"}))).size(),
              one_more ? 0U : 1U);
  }
}

// While nodes join, the status of each DaemonSet changes all the time, and to work out anew what
// runs where takes its time on each node. Here the spec changes, too, so that it can be told.
TEST(ExtenderPolicy, DaemonSetsAreLookedAtAgainOnceTheirSpecChanges) {
  World world;
  world.add_young_node("n", 1000, 0);
  world.keep(PodBuilder("planned").requests(500), "n", 60);
  model::DaemonSet agent;
  agent.meta.name = "agent";
  agent.meta.uid = "uid-agent";
  agent.meta.generation = 1;
  agent.pod_template.spec.containers.push_back({.name = "a", .limits = testing::resources(300)});
  world.state.upsert(std::make_shared<const model::DaemonSet>(agent));
  const auto extender = world.extender();
  const std::string request = names_request(PodBuilder("stray").requests(300).value(), {"n"});
  EXPECT_THAT(refusals(extender.filter(request)), SizeIs(1));

  agent.pod_template.spec.containers.front().limits = testing::resources(100);
  world.state.upsert(std::make_shared<const model::DaemonSet>(agent));
  world.state.snapshot();
  EXPECT_THAT(refusals(extender.filter(request)), SizeIs(1))
      << "as far as it says, only its status";

  agent.meta.generation = 2;
  world.state.upsert(std::make_shared<const model::DaemonSet>(agent));
  world.state.snapshot();
  EXPECT_THAT(refusals(extender.filter(request)), IsEmpty());

  agent.meta.uid = "uid-of-another";
  agent.pod_template.spec.containers.front().limits = testing::resources(300);
  world.state.upsert(std::make_shared<const model::DaemonSet>(agent));
  world.state.snapshot();
  EXPECT_THAT(refusals(extender.filter(request)), SizeIs(1));
}

TEST(ExtenderPolicy, NothingIsRefusedBeforeTheFirstListsAreComplete) {
  World world;
  reserved_node(world);
  world.ledger.fence({"n", "Empty", at(0)});
  world.state.set_synced(false);
  const auto extender = world.extender();
  EXPECT_THAT(passing(extender.filter(names_request(stray(), {"n"}))), ElementsAre("n"));
  EXPECT_THAT(extender.preempt(preempt_request(stray(), R"({"n":{"Pods":[]}})")).body,
              ::testing::HasSubstr("\"n\""));
  EXPECT_THAT(world.ledger.in_doubt("n", world.now), ElementsAre("uid-stray"));
}

TEST(ExtenderPolicy, FilterReportsAttemptsAndPodsRefusedEverywhere) {
  World world;
  reserved_node(world);
  world.add_young_node("free", 1000, 0);
  const auto extender = world.extender();
  const model::Pod pod = stray();
  extender.filter(names_request(pod, {"n", "free"}));
  EXPECT_THAT(world.ledger.in_doubt("free", world.now), ElementsAre("uid-stray"));
  EXPECT_THAT(world.ledger.in_doubt("n", world.now), IsEmpty());
  EXPECT_THAT(world.refused, IsEmpty());
  extender.filter(names_request(pod, {}));
  EXPECT_THAT(world.refused, IsEmpty()) << "nobody refused it";
  extender.filter(names_request(pod, {"n"}));
  EXPECT_EQ(world.ledger.pass_of("uid-stray"), nullptr);
  ASSERT_THAT(world.refused, SizeIs(1));
  EXPECT_EQ(world.refused[0].pod.key, model::key_of(pod.meta));
  EXPECT_EQ(world.refused[0].pod.group, scheduling::group_of(pod));
  EXPECT_THAT(world.refused[0].not_offered, IsEmpty());
}

TEST(ExtenderPolicy, TellsOfNodesThatKeepRoomAndWereNotOffered) {
  World world;
  world.add_young_node("up", 1000, 0);
  world.add_young_node("fenced", 1000, 0);
  world.add_young_node("other", 1000, 0);
  world.state.upsert(NodeBuilder("not-ready").managed().provider("p").allocatable(1000).build());
  world.state.upsert(ClaimBuilder("c").provider("p").build());
  const auto pods = world.add_waiting("set", 3, 100);
  // It may have to move later, and keeps the fourth.
  world.state.upsert(PodBuilder("set-3").requests(100).owned_by("set").on("fenced").build());
  world.ledger.fence({"fenced", "Empty", at(0)});
  for (const char* const target : {"up", "fenced", "not-ready", "in-flight"}) {
    world.ledger.reserve(testing::reservation_for(pods[0], target, 60));
  }
  world.extender().filter(names_request(pods[1], {"other"}));
  ASSERT_THAT(world.refused, SizeIs(1));
  EXPECT_THAT(world.refused[0].not_offered, ElementsAre("up"));
}

TEST(ExtenderPolicy, APassEndsWhenItsBindingCan) {
  World world;
  world.add_young_node("n", 1000, 0);
  const auto claim = [&](const std::string& name, const std::string& phase) {
    model::PersistentVolumeClaim object;
    object.meta.name = name;
    object.meta.namespace_ = "default";
    object.phase = phase;
    object.volume_name = phase == "Bound" ? "volume" : "";
    world.state.upsert(std::make_shared<const model::PersistentVolumeClaim>(object));
  };
  claim("bound", "Bound");
  claim("waiting", "Pending");
  claim("quick-scratch", "Bound");
  const auto with_volumes = [](const std::string& name, std::vector<model::PodVolume> volumes) {
    model::Pod pod = PodBuilder(name).requests(100).value();
    pod.spec.volumes = std::move(volumes);
    return pod;
  };
  const std::vector<model::Pod> pods{
      stray(),
      with_volumes("quick", {{.name = "a", .claim_name = "bound"},
                             {.name = "scratch", .ephemeral = true},
                             {.name = "no-claim"}}),
      with_volumes("slow",
                   {{.name = "a", .claim_name = "bound"}, {.name = "b", .claim_name = "waiting"}}),
      with_volumes("slow-scratch", {{.name = "scratch", .ephemeral = true}}),
      with_volumes("slow-unknown", {{.name = "a", .claim_name = "unknown"}})};
  for (const model::Pod& pod : pods) {
    world.state.upsert(std::make_shared<const model::Pod>(pod));
  }
  const auto extender = world.extender();
  for (const model::Pod& pod : pods) {
    extender.filter(names_request(pod, {"n"}));
  }
  const std::vector<std::string> slow{"uid-slow", "uid-slow-scratch", "uid-slow-unknown"};
  const auto end = [](base::Duration after) { return at(0) + after; };
  EXPECT_THAT(world.ledger.in_doubt("n", end(cluster::Ledger::kPassLifetime) - base::Duration(1)),
              SizeIs(5));
  EXPECT_EQ(world.ledger.in_doubt("n", end(cluster::Ledger::kPassLifetime)), slow);
  EXPECT_EQ(
      world.ledger.in_doubt("n", end(cluster::Ledger::kVolumeBindTimeout) - base::Duration(1)),
      slow);
  EXPECT_THAT(world.ledger.in_doubt("n", end(cluster::Ledger::kVolumeBindTimeout)), IsEmpty());
}

}  // namespace
}  // namespace millwright::extender
