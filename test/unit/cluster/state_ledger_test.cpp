// The state and the ledger together: what a snapshot shows of reservations, which of them the state
// ends or moves.
#include "millwright/cluster/state.hpp"
#include "unit/cluster/objects.hpp"
#include "unit/cluster/state_kit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace millwright::cluster {
namespace {

using scheduling::Reservation;
using testing::at;
using testing::ClaimBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::kept;
using testing::NodeBuilder;
using testing::pass_of;
using testing::PodBuilder;
using testing::room;
using testing::web;

TEST(StateAndLedger, ShowsTheLedgerAsItIsAndWhenAllListsHaveArrived) {
  Ledger ledger;
  State state(ledger);
  EXPECT_FALSE(state.latest()->synced);
  state.upsert(NodeBuilder("n1").build());
  state.upsert(web("web-1").build());
  state.upsert(web("web-2").build());
  ledger.reserve(room("n1", 1));
  state.set_synced(true);
  ledger.fence({"n1", "Empty", at(0)});
  ledger.reserve(room("n0", 1));
  const auto snapshot = state.snapshot();
  EXPECT_EQ(state.latest(), snapshot);
  EXPECT_TRUE(snapshot->synced);
  EXPECT_TRUE(snapshot->nodes[0]->fenced);
  EXPECT_THAT(kept(state), ElementsAre("web on n0: 1", "web on n1: 1"));
  ledger.unfence("n1");
  EXPECT_FALSE(state.snapshot()->nodes[0]->fenced);
}

// It waits for a volume; what kube-scheduler reports within ten seconds may be about an earlier
// attempt.
TEST(StateAndLedger, AReportThatThePodHasNoPlaceEndsItsAttempt) {
  Ledger ledger;
  State state(ledger);
  const auto report = [&](const std::string& reason) {
    model::Pod pod = web("web-1").value();
    pod.status.conditions.push_back(
        {.type = "PodScheduled", .status = model::ConditionStatus::False, .reason = reason});
    state.upsert(std::make_shared<const model::Pod>(pod));
  };
  const auto let_through = [&](std::int64_t seconds) {
    ledger.attempted(pass_of(web("web-1").value(), {"n"}, seconds, Ledger::kVolumeBindTimeout));
  };
  state.upsert(web("web-1").build());
  let_through(0);
  report("Unschedulable");
  EXPECT_THAT(ledger.in_doubt("n", at(9)), ElementsAre("uid-web-1"));
  ledger.expire(at(20));
  report("Unschedulable");  // the same again
  EXPECT_THAT(ledger.in_doubt("n", at(20)), ElementsAre("uid-web-1"));
  report("SchedulerError");
  EXPECT_THAT(ledger.in_doubt("n", at(20)), IsEmpty());
  let_through(30);
  ledger.expire(at(50));
  state.upsert(PodBuilder(web("web-1")).phase("Running").build());  // no report at all
  EXPECT_THAT(ledger.in_doubt("n", at(50)), ElementsAre("uid-web-1"));
}

// kube-scheduler asked before the watch showed the pod.
TEST(StateAndLedger, AnAttemptOfAnUnseenPodCountsAsTheFirstSnapshotWithThePodHasIt) {
  Ledger ledger;
  State state(ledger);
  state.set_synced(true);
  const auto ask = [&](const std::string& name) {
    Pass pass = pass_of(PodBuilder(name).requests(5).value(), {"n"}, 0);
    pass.unseen = Pass::Unseen{.pod = {.namespace_ = "default", .name = name}, .until = at(600)};
    ledger.attempted(std::move(pass));
  };
  for (const char* const name : {"slow", "quick", "bound", "gated", "made-up", "same-name"}) {
    ask(name);
  }
  const auto slow = PodBuilder("slow").requests(700).claim("data").build();
  state.upsert(slow);
  state.upsert(PodBuilder("quick").build());
  state.upsert(PodBuilder("bound").on("n").build());
  state.upsert(PodBuilder("gated").gated().build());
  state.upsert(PodBuilder("same-name").uid("another").build());
  state.snapshot();
  EXPECT_THAT(ledger.in_doubt("n", at(9)),
              ElementsAre("uid-gated", "uid-made-up", "uid-quick", "uid-same-name", "uid-slow"));
  EXPECT_THAT(ledger.in_doubt("n", at(10)), ElementsAre("uid-slow"));
  const auto pass = ledger.pass_of("uid-slow");
  EXPECT_FALSE(pass->unseen);
  EXPECT_EQ(pass->requests, scheduling::effective_requests(*slow));
  EXPECT_EQ(pass->group, scheduling::group_of(*slow));
  EXPECT_EQ(pass->until, at(600));
  EXPECT_TRUE(ledger.pass_of("uid-made-up")->unseen);
}

TEST(StateAndLedger, ABoundPodUsesItsRoomOnlyWithTheSnapshotThatShowsIt) {
  Ledger ledger;
  State state(ledger);
  state.set_synced(true);
  state.upsert(NodeBuilder("n").build());
  state.upsert(web("web-1").build());
  state.upsert(web("web-2").build());
  ledger.reserve(room("n", 2));
  ledger.attempted(pass_of(web("web-1").value(), {"n"}, 0));
  state.snapshot();
  state.upsert(web("web-1").on("n").build());
  EXPECT_EQ(ledger.view()->reserved(room("n", 1).group), 2);
  EXPECT_THAT(ledger.in_doubt("n", at(0)), ElementsAre("uid-web-1"));
  const auto snapshot = state.snapshot();
  EXPECT_THAT(kept(state), ElementsAre("web on n: 1"));
  EXPECT_EQ(ledger.view()->reserved(room("n", 1).group), 1);
  EXPECT_THAT(ledger.in_doubt("n", at(0)), IsEmpty());
  EXPECT_EQ(state.snapshot(), snapshot);  // what it settled itself is no news
  // The same pod again uses nothing more, nor does its end.
  state.upsert(web("web-1").on("n").phase("Running").build());
  EXPECT_THAT(kept(state), ElementsAre("web on n: 1"));
  state.remove<model::Pod>({"default", "web-1"}, {.uid = "uid-web-1"});
  EXPECT_THAT(kept(state), ElementsAre("web on n: 1"));
}

TEST(StateAndLedger, APodThatTakesTheNameOfABoundOneUsesNothingForIt) {
  Ledger ledger;
  State state(ledger);
  state.set_synced(true);
  state.upsert(NodeBuilder("n").build());
  state.upsert(web("web-1").on("n").build());
  state.upsert(web("web-2").build());
  state.snapshot();
  ledger.reserve(room("n", 1));
  EXPECT_THAT(kept(state), ElementsAre("web on n: 1"));
  state.upsert(web("web-1").uid("another").created(1).build());
  EXPECT_THAT(kept(state), ElementsAre("web on n: 1"));
}

TEST(StateAndLedger, ABindElsewhereFreesTheRoomThatIsLeastMissed) {
  Ledger ledger;
  State state(ledger);
  state.set_synced(true);
  state.upsert(NodeBuilder("n").build());
  state.upsert(ClaimBuilder("c").build());
  state.upsert(web("web-1").build());
  state.upsert(web("web-2").build());
  ledger.reserve_all({room("c", 1), room("n", 1)});
  EXPECT_THAT(kept(state), ElementsAre("web on c: 1", "web on n: 1"));
  state.upsert(web("web-1").on("elsewhere").build());
  EXPECT_THAT(kept(state), ElementsAre("web on n: 1"));
}

TEST(StateAndLedger, SurplusIsFreedWhereItIsLeastMissed) {
  struct Case {
    const char* what;
    int demand;
    std::vector<Reservation> reserved;
    std::vector<std::string> expected;
  };
  const Reservation everywhere[] = {room("asked", 2), room("launched", 2), room("starting", 2),
                                    room("up", 2), room("unknown", 2)};
  const std::vector<Reservation> all(std::begin(everywhere), std::end(everywhere));
  const Case cases[] = {
      {"no surplus",
       10,
       all,
       {"web on asked: 2", "web on launched: 2", "web on starting: 2", "web on unknown: 2",
        "web on up: 2"}},
      {"one of a claim that is not launched",
       9,
       all,
       {"web on asked: 1", "web on launched: 2", "web on starting: 2", "web on unknown: 2",
        "web on up: 2"}},
      {"one of a claim that is being created",
       7,
       all,
       {"web on launched: 2", "web on starting: 2", "web on unknown: 1", "web on up: 2"}},
      {"then claims that are",
       5,
       all,
       {"web on launched: 1", "web on starting: 2", "web on up: 2"}},
      {"then nodes that are not up", 3, all, {"web on starting: 1", "web on up: 2"}},
      {"then nodes", 1, all, {"web on up: 1"}},
      {"all of it", 0, all, {}},
      {"first where little is reserved", 3, {room("up", 3), room("up-2", 1)}, {"web on up: 3"}},
      {"the first by name of equals", 1, {room("up", 1), room("up-2", 1)}, {"web on up-2: 1"}},
  };
  for (const Case& one : cases) {
    Ledger ledger;
    State state(ledger);
    state.set_synced(true);
    state.upsert(ClaimBuilder("asked").build());
    state.upsert(ClaimBuilder("launched").condition(model::kLaunched).provider("p1").build());
    state.upsert(ClaimBuilder("c-starting").condition(model::kLaunched).provider("p2").build());
    state.upsert(NodeBuilder("starting")
                     .label(model::kNodePoolLabel, "default")
                     .label(model::kInstanceTypeLabel, "t")
                     .provider("p2")
                     .build());
    state.upsert(ClaimBuilder("c-up").condition(model::kLaunched).provider("p3").build());
    state.upsert(NodeBuilder("up").managed().provider("p3").build());
    state.upsert(NodeBuilder("up-2").build());
    for (int i = 0; i < one.demand; ++i) {
      state.upsert(web("web-" + std::to_string(i)).build());
    }
    ledger.reserve_all(one.reserved);
    EXPECT_EQ(kept(state), one.expected) << one.what;
  }
}

TEST(StateAndLedger, RoomThatAPodIsOnItsWayToIsFreedLast) {
  Ledger ledger;
  State state(ledger);
  state.set_synced(true);
  for (const char* const name : {"n1", "n2"}) {
    state.upsert(NodeBuilder(name).build());
  }
  state.upsert(web("web-1").build());
  state.upsert(web("web-2").build());
  ledger.reserve_all({room("n1", 1), room("n2", 1)});
  ledger.attempted(pass_of(web("web-1").value(), {"n1"}, 0));
  EXPECT_THAT(kept(state), ElementsAre("web on n1: 1", "web on n2: 1"));
  state.remove<model::Pod>({"default", "web-2"}, {.uid = "uid-web-2"});
  EXPECT_THAT(kept(state), ElementsAre("web on n1: 1"));
}

// Two pods wait. What counts is a binding past room that was reserved for all of them.
TEST(StateAndLedger, CountsPodsThatWerePlacedElsewhere) {
  struct Case {
    const char* what;
    std::int32_t reserved;     // on "own"
    const char* node;          // where "web-1" is bound
    bool chosen_while_beyond;  // the scheduler chose it when more was needed than reserved
    std::uint64_t elsewhere;
  };
  const Case cases[] = {
      {"to its own node", 2, "own", false, 0},
      {"past its own node", 2, "other", false, 1},
      {"more is needed than is reserved", 1, "other", false, 0},
      {"nothing is reserved", 0, "other", false, 0},
      {"more was needed when it was chosen", 2, "other", true, 0},
  };
  for (const Case& one : cases) {
    Ledger ledger;
    State state(ledger);
    state.set_synced(true);
    state.upsert(NodeBuilder("own").build());
    state.upsert(NodeBuilder("other").build());
    state.upsert(web("web-1").build());
    state.upsert(web("web-2").build());
    ledger.reserve(room("own", one.reserved));
    state.snapshot();
    auto pass = pass_of(web("web-1").value(), {one.node}, 0);
    pass.beyond_reserved = one.chosen_while_beyond;
    ledger.attempted(pass);
    state.upsert(web("web-1").version(2).on(one.node).build());
    state.snapshot();
    EXPECT_EQ(state.placed_elsewhere(), one.elsewhere) << one.what;
  }
}

TEST(StateAndLedger, NothingIsSurplusBeforeTheFirstListsAreComplete) {
  Ledger ledger;
  State state(ledger);
  ledger.reserve(room("n", 2));
  state.upsert(NodeBuilder("n").build());
  EXPECT_THAT(kept(state), ElementsAre("web on n: 2"));
  state.upsert(web("web-1").build());
  state.set_synced(true);
  EXPECT_THAT(kept(state), ElementsAre("web on n: 1"));
}

TEST(StateAndLedger, ABuffersRoomIsNoSurplus) {
  Ledger ledger;
  State state(ledger);
  state.set_synced(true);
  Reservation buffer = room("n", 2);
  buffer.group = scheduling::GroupId::of_owner("web");
  buffer.of_buffer = true;
  ledger.reserve(buffer);
  state.upsert(NodeBuilder("n").build());
  EXPECT_THAT(kept(state), ElementsAre("web on n: 2"));
  // Nor does it stand for what pods need.
  EXPECT_TRUE(scheduling::reserved_by_group(state.snapshot()->reservations).empty());
}

TEST(StateAndLedger, RoomIsFreedWhenItsPodsAreGone) {
  Ledger ledger;
  State state(ledger);
  state.set_synced(true);
  state.upsert(web("deleted").uid("1").build());
  state.upsert(web("replaced").uid("2").created(1).build());
  ledger.reserve(room("n", 2));
  EXPECT_THAT(kept(state), ElementsAre("web on n: 2"));
  // Another pod of the name has the same need.
  state.upsert(web("replaced").uid("3").created(2).build());
  EXPECT_THAT(kept(state), ElementsAre("web on n: 2"));
  state.remove<model::Pod>({"default", "deleted"}, {.uid = "1"});
  EXPECT_THAT(kept(state), ElementsAre("web on n: 1"));
  state.upsert(PodBuilder("replaced").uid("4").created(3).build());  // of no controller
  EXPECT_THAT(kept(state), IsEmpty());
}

std::shared_ptr<const model::Workload> replica_set(std::int32_t pods) {
  model::Workload set{.kind = "ReplicaSet", .meta = {}, .pods = pods, .at_once = true};
  set.meta.name = "web";
  set.meta.namespace_ = "default";
  set.meta.uid = "web";
  return std::make_shared<const model::Workload>(std::move(set));
}

TEST(StateAndLedger, RoomForAnEvictedPodWaitsForWhicheverPodComesInItsPlace) {
  // How many pods it wants is known of the one kind, not of the other.
  for (const std::string kind : {"ReplicaSet", "Rollout"}) {
    SCOPED_TRACE(kind);
    const auto of_web = [&](const std::string& name) {
      return std::move(PodBuilder(name).requests(100).owned_by("web", kind));
    };
    Ledger ledger;
    State state(ledger);
    state.set_synced(true);
    if (kind == "ReplicaSet") {
      state.upsert(replica_set(1));
    }
    state.upsert(ClaimBuilder("c").provider("p").build());
    state.upsert(NodeBuilder("old").managed().provider("p").build());
    state.upsert(NodeBuilder("new").build());
    state.upsert(of_web("web-1").on("old").build());
    ledger.fence({"old", "Underutilized", at(0)});
    ledger.reserve(room("new", 1));
    EXPECT_THAT(kept(state), ElementsAre("web on new: 1"));
    state.mark_for_deletion("c", true);
    EXPECT_THAT(kept(state), ElementsAre("web on new: 1"));
    state.upsert(of_web("web-1").on("old").deleting().build());
    EXPECT_THAT(kept(state), ElementsAre("web on new: 1"));
    state.upsert(of_web("web-x7k").build());
    state.remove<model::Pod>({"default", "web-1"}, {.uid = "uid-web-1"});
    EXPECT_THAT(kept(state), ElementsAre("web on new: 1"));
    state.upsert(of_web("web-x7k").on("new").build());
    EXPECT_THAT(kept(state), IsEmpty());
  }
}

TEST(StateAndLedger, RoomForAnEvictedPodThatIsWantedNoMoreIsFreed) {
  Ledger ledger;
  State state(ledger);
  state.set_synced(true);
  state.upsert(replica_set(1));
  state.upsert(NodeBuilder("old").deleting().build());
  state.upsert(web("web-1").on("old").build());
  ledger.reserve(room("new", 1));
  EXPECT_THAT(kept(state), ElementsAre("web on new: 1"));
  state.upsert(replica_set(0));
  state.upsert(web("web-1").on("old").deleting().build());
  EXPECT_THAT(kept(state), IsEmpty());
}

TEST(StateAndLedger, ReservationsFollowTheClaimToItsNodeAndEndWithIt) {
  Ledger ledger;
  State state(ledger);
  state.set_synced(true);
  state.upsert(web("web-1").build());
  ledger.reserve(room("c", 1));
  ASSERT_EQ(state.snapshot()->reservations.size(), 1U) << "a claim that is yet to come";
  state.assume(ClaimBuilder("c").build());
  EXPECT_THAT(kept(state), ElementsAre("web on c: 1"));
  state.upsert(ClaimBuilder("c").provider("p").build());
  EXPECT_THAT(kept(state), ElementsAre("web on c: 1"));
  state.upsert(NodeBuilder("n").provider("p").build());
  EXPECT_THAT(kept(state), ElementsAre("web on n: 1"));
  ledger.fence({"n", "Empty", at(0)});
  state.remove<model::Node>({"", "n"});
  EXPECT_TRUE(ledger.view()->fences_by_node.empty());
  EXPECT_THAT(kept(state), IsEmpty());

  ledger.reserve(room("c", 1));
  EXPECT_THAT(kept(state), ElementsAre("web on c: 1"));
  state.remove<model::NodeClaim>({"", "c"});
  EXPECT_THAT(kept(state), IsEmpty());
}

// Of the pods that were to come to the node each is bound there, or has its room; never both.
TEST(StateAndLedger, SightCountsABoundPodsRoomOnce) {
  constexpr int kPods = 300;
  Ledger ledger;
  State state(ledger);
  state.set_synced(true);
  state.upsert(NodeBuilder("n").build());
  for (int i = 0; i < kPods; ++i) {
    state.upsert(web("web-" + std::to_string(i)).build());
  }
  ledger.reserve(room("n", kPods));
  state.snapshot();
  std::atomic<bool> done = false;
  std::atomic<int> wrong = 0;
  std::atomic<int> looks = 0;
  const auto look = [&] {
    const auto [snapshot, view] = state.sight();
    const auto bound = static_cast<std::int32_t>(snapshot->nodes[0]->pods.size());
    wrong += bound + view->reserved(room("n", 1).group) == kPods ? 0 : 1;
    ++looks;
  };
  std::thread reader([&] {
    while (!done) {
      look();
    }
  });
  for (int i = 0; i < kPods; ++i) {
    state.upsert(web("web-" + std::to_string(i)).on("n").build());
    look();
    state.snapshot();
    look();
  }
  done = true;
  reader.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_THAT(kept(state), IsEmpty());
}

TEST(StateAndLedger, OtherThreadsReadWholePicturesWhileTheLoopChangesThem) {
  Ledger ledger;
  State state(ledger);
  std::atomic<bool> done = false;
  std::vector<std::thread> readers;
  std::atomic<int> torn = 0;
  const auto reader_pod = PodBuilder("reader").value();
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      std::uint64_t last = 0;
      while (!done) {
        const LedgerViewPtr view = ledger.view();
        const auto snapshot = state.latest();
        // Each round reserves for two groups at once; never half of it.
        std::size_t reserved = 0;
        for (const auto& [target, list] : view->by_target) {
          reserved += list.size();
        }
        torn += reserved % 2 != 0 ? 1 : 0;
        torn += snapshot->generation < last ? 1 : 0;
        last = snapshot->generation;
        for (const auto& record : snapshot->nodes) {
          torn += record->pods.size() > 1 ? 1 : 0;
        }
        ledger.attempted(pass_of(reader_pod, {"n1"}, 0));
        ledger.in_doubt("n1", at(0));
      }
    });
  }
  for (int round = 0; round < 200; ++round) {
    const std::string name = std::to_string(round % 10);
    ledger.reserve_all({testing::reservation("a" + name, "n" + name, 10, 60),
                        testing::reservation("b" + name, "n" + name, 10, 60)});
    state.upsert(NodeBuilder("n" + name).build());
    state.upsert(PodBuilder("p").uid(std::to_string(round)).on("n" + name).build());
    ledger.fence({"n" + name, "Empty", at(round)});
    state.snapshot();
    ledger.unfence("n" + name);
    ledger.release_target("n" + name);
  }
  done = true;
  for (std::thread& reader : readers) {
    reader.join();
  }
  EXPECT_EQ(torn, 0);
}

// Pods that were bound before do not use what was reserved since.
TEST(StateAndLedger, WhatIsReservedOutlivesATimeOfStaleness) {
  Ledger ledger;
  State state(ledger);
  state.set_synced(true);
  state.upsert(NodeBuilder("n").build());
  state.upsert(web("web-0").on("n").build());
  state.upsert(web("web-1").build());
  state.snapshot();
  ledger.reserve(room("n", 1));
  const auto before = kept(state);
  ASSERT_EQ(before.size(), 1U);
  state.set_fresh(false);
  EXPECT_EQ(kept(state), before);
  state.set_fresh(true);
  EXPECT_EQ(kept(state), before);
}

}  // namespace
}  // namespace millwright::cluster
