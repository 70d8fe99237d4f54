// What the state learns from mirror annotations.
#include "millwright/cluster/state.hpp"
#include "unit/cluster/objects.hpp"
#include "unit/cluster/state_kit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>

namespace millwright::cluster {
namespace {

using scheduling::Reservation;
using testing::at;
using testing::ClaimBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kept;
using testing::NodeBuilder;
using testing::PodBuilder;
using testing::record_of;
using testing::room;
using testing::web;

TEST(StateAndMirrors, LearnsReservationsAndFencesFromNodeClaims) {
  Ledger ledger;
  State state(ledger);
  state.set_synced(true);
  state.upsert(web("web-1").build());
  state.upsert(web("web-2").build());
  const std::string text = encode_reservations({room("c", 2)});
  const std::string fence = encode_fence({"n", "Empty", at(3)});
  const auto claim = [&](int version) {
    return std::move(ClaimBuilder("c")
                         .version(version)
                         .provider("p")
                         .annotation(model::kReservationsAnnotation, text)
                         .annotation(model::kFenceAnnotation, fence));
  };
  state.upsert(claim(1).build());
  EXPECT_THAT(kept(state), ElementsAre("web on c: 2"));
  state.upsert(NodeBuilder("n").version(2).provider("p").build());
  EXPECT_TRUE(record_of(state, "n")->fenced);
  EXPECT_THAT(kept(state), ElementsAre("web on n: 2"));
  // A pod that bound needs no more room, even when the claim is written again for another reason.
  state.upsert(web("web-1").on("n").build());
  state.snapshot();
  state.upsert(claim(3).annotation("note", "changed").build());
  EXPECT_THAT(kept(state), ElementsAre("web on n: 1"));
  // What is reserved is said once; a fence may be taken back.
  state.upsert(ClaimBuilder("c").version(4).provider("p").build());
  EXPECT_THAT(kept(state), ElementsAre("web on n: 1"));
  EXPECT_FALSE(record_of(state, "n")->fenced);
}

// A kubelet may write on its Node.
TEST(StateAndMirrors, ANodesOwnWordsReserveAndCloseNothing) {
  Ledger ledger;
  State state(ledger);
  state.upsert(ClaimBuilder("c").provider("p").build());
  state.upsert(NodeBuilder("n")
                   .provider("p")
                   .annotation(model::kReservationsAnnotation, encode_reservations({room("n", 2)}))
                   .annotation(model::kFenceAnnotation, encode_fence({"n", "Empty", at(3)}))
                   .build());
  EXPECT_THAT(kept(state), IsEmpty());
  EXPECT_FALSE(record_of(state, "n")->fenced);
}

TEST(StateAndMirrors, NoMirrorReservesForLongerThanALaunchAndARegistrationMayTake) {
  Ledger ledger;
  State state(
      ledger, [] { return at(100); }, std::chrono::seconds(50));
  const auto mirrored = [](const std::string& name, std::int64_t until) {
    return ClaimBuilder(name)
        .annotation(model::kReservationsAnnotation, encode_reservations({room(name, 1, until)}))
        .build();
  };
  state.upsert(mirrored("honest", 140));
  state.upsert(mirrored("forged", 1'000'000));
  const auto end = [&](std::string_view target) {
    return ledger.view()->by_target.find(target)->second.begin()->until;
  };
  EXPECT_EQ(end("honest"), at(140));
  EXPECT_EQ(end("forged"), at(150));
}

TEST(StateAndMirrors, AFenceFromTheFutureDoesNotHideLaterOnes) {
  Ledger ledger;
  State state(ledger, [] { return at(100); });
  state.upsert(NodeBuilder("n").provider("p").build());
  state.upsert(ClaimBuilder("c")
                   .provider("p")
                   .annotation(model::kFenceAnnotation, encode_fence({"n", "Empty", at(1'000'000)}))
                   .build());
  ledger.unfence("n");
  ledger.adopt_fence("c", "n", Fence{"n", "Drifted", at(101)});
  EXPECT_EQ(ledger.view()->fences_by_node.size(), 1U);
}

TEST(StateAndMirrors, ADelayedMirrorDoesNotOverruleWhatThisProcessDecided) {
  Ledger ledger;
  State state(ledger);
  state.upsert(ClaimBuilder("c").version(1).provider("p").build());
  ledger.reserve(room("c", 1));
  const auto mirrored = [](int version, std::int32_t count) {
    return ClaimBuilder("c")
        .version(version)
        .provider("p")
        .annotation(model::kReservationsAnnotation, encode_reservations({room("c", count)}))
        .build();
  };
  state.upsert(mirrored(2, 5));
  EXPECT_THAT(kept(state), ElementsAre("web on c: 1"));
  state.upsert(NodeBuilder("n").provider("p").build());
  state.upsert(mirrored(3, 4));
  EXPECT_THAT(kept(state), ElementsAre("web on n: 1"));
}

TEST(StateAndMirrors, ARepeatedMirrorDoesNotBringBackWhatEnded) {
  Ledger ledger;
  State state(ledger);
  const std::string text = encode_reservations({room("c", 1)});
  const auto claim = [&](int version) {
    return ClaimBuilder("c")
        .version(version)
        .annotation(model::kReservationsAnnotation, text)
        .build();
  };
  state.upsert(claim(1));
  EXPECT_THAT(kept(state), ElementsAre("web on c: 1"));
  ledger.lower(room("c", 1).group, "c", 1);
  state.upsert(claim(2));
  EXPECT_THAT(kept(state), IsEmpty());
}

TEST(StateAndMirrors, WhatHasEndedIsNotTakenOver) {
  for (const std::int64_t now : {59, 60}) {
    Ledger ledger;
    State state(ledger, [now] { return at(now); });
    state.upsert(
        ClaimBuilder("c")
            .annotation(model::kReservationsAnnotation, encode_reservations({room("c", 2, 60)}))
            .build());
    EXPECT_EQ(kept(state).size(), now < 60 ? 1U : 0U);
  }
}

// Three pods are wanted; the claim of "n" and that of "starting" were bought for two each. "n" is
// up, and so many of the group are there.
struct Restarted {
  Ledger ledger;
  State state{ledger};

  static std::shared_ptr<const model::NodeClaim> claim(const std::string& name) {
    return ClaimBuilder(name)
        .provider("p-" + name)
        .condition(model::kLaunched)
        .annotation(model::kReservationsAnnotation, encode_reservations({room(name, 2)}))
        .build();
  }
  std::vector<std::function<void()>> lists() {
    return {[this] { state.upsert(claim("c")); }, [this] { state.upsert(claim("starting")); },
            [this] {
              state.upsert(NodeBuilder("n").managed().provider("p-c").allocatable(8000).build());
            },
            [this] {
              state.upsert(web("web-1").on("n").build());
              state.upsert(web("web-2").build());
              state.upsert(web("web-3").build());
            }};
  }
};

TEST(StateAndMirrors, AfterARestartPodsHaveUsedTheirRoomWhicheverIsListedFirst) {
  std::array<std::size_t, 4> order = {0, 1, 2, 3};
  do {
    Restarted restarted;
    const auto lists = restarted.lists();
    for (const std::size_t each : order) {
      lists[each]();
      restarted.state.snapshot();
    }
    restarted.state.set_synced(true);
    // One used, and one surplus: for on "n" more may have come and gone than are there.
    EXPECT_THAT(kept(restarted.state), ElementsAre("web on starting: 2"));
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(StateAndMirrors, AfterARestartRoomIsFreedWhereItWasProbablyUsed) {
  struct Case {
    const char* what;
    std::function<void(State&)> change;  // to a node with the group's room and none of its pods
    std::vector<std::string> kept;
  };
  const auto node = [](std::int64_t milli_cpu) {
    return NodeBuilder("n").managed().provider("p-c").allocatable(milli_cpu).build();
  };
  for (const auto& [what, change, left] : std::vector<Case>{
           {"the node has room and none of the pods were there",
            [&](State& state) { state.upsert(node(8000)); },
            {"web on n: 2"}},
           {"the node has no room",
            [&](State& state) { state.upsert(node(50)); },
            {"web on starting: 2"}},
           {"a pod is there that came before",
            [&](State& state) {
              state.upsert(node(8000));
              state.upsert(web("web-1").on("n").build());
            },
            {"web on starting: 2"}},
           {"the node is not up", [&](State&) {}, {"web on starting: 2"}},
       }) {
    Restarted restarted;
    State& state = restarted.state;
    state.upsert(restarted.claim("c"));
    state.upsert(restarted.claim("starting"));
    change(state);
    state.upsert(web("web-2").build());
    state.upsert(web("web-3").build());
    state.set_synced(true);
    EXPECT_EQ(kept(state), left) << what;
  }
}

TEST(StateAndMirrors, WhatTheLeaderWritesMeanwhileCountsLikeOnesOwn) {
  Restarted restarted;
  State& state = restarted.state;
  state.set_synced(true);
  state.upsert(web("web-2").build());
  state.upsert(web("web-3").build());
  state.upsert(web("web-4").build());
  state.upsert(web("web-5").build());
  const auto lists = restarted.lists();
  lists[0]();
  lists[1]();
  lists[2]();
  EXPECT_THAT(kept(state), ElementsAre("web on n: 2", "web on starting: 2"));
  state.upsert(web("web-2").on("n").build());
  state.upsert(web("web-5").on("elsewhere").build());
  EXPECT_THAT(kept(state), ElementsAre("web on n: 1", "web on starting: 1"));
}

// Two such counts made a negative sum, and then nothing of them was surplus.
TEST(StateAndMirrors, RoomForMorePodsThanThereCanBeIsNotTakenOver) {
  Ledger ledger;
  State state(ledger);
  int problems = 0;
  state.on_problem([&problems](const std::string&) { ++problems; });
  for (const std::string name : {"a", "b"}) {
    state.upsert(
        ClaimBuilder(name)
            .annotation(model::kReservationsAnnotation,
                        encode_reservations({room(name, std::numeric_limits<std::int32_t>::max())}))
            .build());
  }
  state.upsert(web("web-1").build());
  state.set_synced(true);
  EXPECT_THAT(kept(state), IsEmpty());
  EXPECT_EQ(problems, 2);
}

TEST(StateAndMirrors, SaysWhichMirrorCannotBeReadAndCarriesOn) {
  Ledger ledger;
  State state(ledger);
  std::vector<std::string> problems;
  state.on_problem([&](const std::string& message) { problems.push_back(message); });
  state.upsert(NodeBuilder("n").provider("p").build());
  state.upsert(ClaimBuilder("c")
                   .provider("p")
                   .annotation(model::kReservationsAnnotation, "[{")
                   .annotation(model::kFenceAnnotation, "yes")
                   .build());
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_THAT(problems[0],
              HasSubstr("NodeClaim/c: ignoring annotation millwright.io/reservations"));
  EXPECT_THAT(problems[1], HasSubstr("NodeClaim/c: ignoring annotation millwright.io/fence"));
  EXPECT_EQ(state.snapshot()->nodes.size(), 1U);
}

}  // namespace
}  // namespace millwright::cluster
