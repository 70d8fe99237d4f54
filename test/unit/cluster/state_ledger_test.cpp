// The state and the ledger together: what a snapshot shows of promises, which of them the state
// ends or moves, and what it learns from mirror annotations.
#include "millwright/cluster/state.hpp"
#include "unit/cluster/objects.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace millwright::cluster {
namespace {

using testing::at;
using testing::ClaimBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::hold;
using ::testing::IsEmpty;
using testing::NodeBuilder;
using testing::PodBuilder;

scheduling::NodeRecordPtr ledger_record_of(State& state, std::string_view name) {
  for (const auto& record : state.snapshot()->nodes) {
    if (record->name() == name) {
      return record;
    }
  }
  return nullptr;
}

TEST(StateAndLedger, ShowsTheLedgerAsItIsAndWhenAllListsHaveArrived) {
  Ledger ledger;
  ledger.hold(hold("early", "n1", 10, 60));
  State state(ledger);
  EXPECT_FALSE(state.latest()->synced);
  state.upsert(NodeBuilder("n1").build());
  state.set_synced(true);
  ledger.fence({"n1", "Empty", at(0)});
  ledger.hold(hold("late", "n0", 10, 60));
  const auto snapshot = state.snapshot();
  EXPECT_EQ(state.latest(), snapshot);
  EXPECT_TRUE(snapshot->synced);
  EXPECT_TRUE(snapshot->nodes[0]->fenced);
  ASSERT_EQ(snapshot->holds.size(), 2U);
  EXPECT_EQ(snapshot->holds.begin()->pod_uid, "uid-late");
  ledger.unfence("n1");
  EXPECT_FALSE(state.snapshot()->nodes[0]->fenced);
}

TEST(StateAndLedger, TakesABoundPodsHoldAwayOnlyWithTheSnapshotThatShowsIt) {
  Ledger ledger;
  State state(ledger);
  state.upsert(NodeBuilder("n").build());
  state.upsert(PodBuilder("p").build());
  ledger.hold(hold("p", "n", 10, 60));
  ledger.passed("uid-p", "n", at(0));
  state.snapshot();
  state.upsert(PodBuilder("p").on("n").build());
  EXPECT_NE(ledger.view()->hold_of("uid-p"), nullptr);
  EXPECT_THAT(ledger.in_doubt("n", at(0)), ElementsAre("uid-p"));
  const auto snapshot = state.snapshot();
  EXPECT_THAT(snapshot->holds, IsEmpty());
  EXPECT_EQ(ledger.view()->hold_of("uid-p"), nullptr);
  EXPECT_THAT(ledger.in_doubt("n", at(0)), IsEmpty());
  EXPECT_EQ(state.snapshot(), snapshot);  // what it settled itself is no news
}

TEST(StateAndLedger, LetsGoOfHoldsForPodsThatAreGone) {
  Ledger ledger;
  State state(ledger);
  state.upsert(PodBuilder("deleted").build());
  state.upsert(PodBuilder("replaced").uid("first").created(1).build());
  scheduling::Hold first = hold("replaced", "n", 10, 60);
  first.pod_uid = "first";
  ledger.hold_all({hold("deleted", "n", 10, 60), first});
  state.remove<model::Pod>({"default", "deleted"}, {.uid = "uid-deleted"});
  state.upsert(PodBuilder("replaced").uid("second").created(2).build());
  EXPECT_THAT(state.snapshot()->holds, IsEmpty());
  EXPECT_TRUE(ledger.view()->targets(scheduling::HoldKind::Pod).empty());
}

TEST(StateAndLedger, HoldsFollowTheirClaimToItsNodeAndLapseWithIt) {
  Ledger ledger;
  State state(ledger);
  state.upsert(ClaimBuilder("c").provider("p").build());
  ledger.hold(hold("p", "c", 10, 60));
  state.upsert(NodeBuilder("n").provider("p").build());
  ASSERT_EQ(state.snapshot()->holds.size(), 1U);
  EXPECT_EQ(state.snapshot()->holds.begin()->target, "n");
  ledger.fence({"n", "Empty", at(0)});
  state.remove<model::Node>({"", "n"});
  EXPECT_TRUE(ledger.view()->fences_by_node.empty());
  EXPECT_EQ(ledger.expire(at(0)).size(), 1U);

  ledger.hold(hold("p", "c", 10, 60));
  state.remove<model::NodeClaim>({"", "c"});
  EXPECT_EQ(ledger.expire(at(0)).size(), 1U);
}

TEST(StateAndLedger, LearnsHoldsAndFencesFromTheObjectsThatMirrorThem) {
  Ledger ledger;
  State state(ledger);
  const std::string holds = encode_holds({hold("p", "c", 10, 60), hold("q", "c", 10, 60)});
  const std::string fence = encode_fence({"n", "Empty", at(3)});
  const auto claim = [&](int version) {
    return ClaimBuilder("c").version(version).provider("p").annotation(model::kHoldsAnnotation,
                                                                       holds);
  };
  state.upsert(claim(1).build());
  EXPECT_EQ(state.snapshot()->holds.size(), 2U);
  state.upsert(
      NodeBuilder("n").version(2).provider("p").annotation(model::kFenceAnnotation, fence).build());
  EXPECT_TRUE(ledger_record_of(state, "n")->fenced);
  EXPECT_EQ(state.snapshot()->holds.begin()->target, "n");
  // A pod that bound keeps nothing, even when the mirror is written again for another reason.
  state.upsert(PodBuilder("p").on("n").build());
  state.snapshot();
  state.upsert(claim(3).annotation("note", "changed").build());
  EXPECT_EQ(state.snapshot()->holds.size(), 1U);
  // The leader took its words back.
  state.upsert(ClaimBuilder("c").version(4).provider("p").build());
  state.upsert(NodeBuilder("n").version(5).provider("p").build());
  EXPECT_THAT(state.snapshot()->holds, IsEmpty());
  EXPECT_FALSE(ledger_record_of(state, "n")->fenced);
}

TEST(StateAndLedger, AMirroredHoldForASuccessorWaitsBesideThePodThatStillRuns) {
  Ledger ledger;
  State state(ledger);
  scheduling::Hold heir = hold("p", "new", 10, 60);
  heir.kind = scheduling::HoldKind::Successor;
  heir.pod_uid = "uid-p";
  state.upsert(PodBuilder("p").on("old").build());
  state.upsert(
      NodeBuilder("new").annotation(model::kHoldsAnnotation, encode_holds({heir})).build());
  state.remove<model::Pod>({"default", "p"}, {.uid = "uid-p"});
  EXPECT_THAT(state.snapshot()->holds, ElementsAre(heir));
}

TEST(StateAndLedger, AMirrorCountsForTheClaimAgainWhenItsNodeGoes) {
  Ledger ledger;
  State state(ledger);
  const auto claim = [](int version) {
    return ClaimBuilder("c")
        .version(version)
        .provider("p")
        .annotation(model::kHoldsAnnotation, encode_holds({hold("p", "c", 10, 60)}))
        .build();
  };
  state.upsert(claim(1));
  state.upsert(NodeBuilder("n").provider("p").build());
  state.remove<model::Node>({"", "n"});
  state.upsert(claim(2));
  EXPECT_THAT(state.snapshot()->holds, ElementsAre(hold("p", "c", 10, 60)));
}

TEST(StateAndLedger, ARepeatedMirrorDoesNotBringBackWhatEnded) {
  Ledger ledger;
  State state(ledger);
  const std::string holds = encode_holds({hold("p", "n", 10, 60)});
  state.upsert(NodeBuilder("n").version(1).annotation(model::kHoldsAnnotation, holds).build());
  ledger.release({.pod_uid = "uid-p"});
  state.upsert(NodeBuilder("n").version(2).annotation(model::kHoldsAnnotation, holds).build());
  EXPECT_THAT(state.snapshot()->holds, IsEmpty());
}

TEST(StateAndLedger, SaysWhichMirrorCannotBeReadAndCarriesOn) {
  Ledger ledger;
  State state(ledger);
  std::vector<std::string> problems;
  state.on_problem([&](const std::string& message) { problems.push_back(message); });
  state.upsert(NodeBuilder("n")
                   .annotation(model::kHoldsAnnotation, "[{")
                   .annotation(model::kFenceAnnotation, "yes")
                   .build());
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_THAT(problems[0], HasSubstr("Node/n: ignoring annotation millwright.io/holds"));
  EXPECT_THAT(problems[1], HasSubstr("Node/n: ignoring annotation millwright.io/fence"));
  EXPECT_EQ(state.snapshot()->nodes.size(), 1U);
}

TEST(StateAndLedger, OtherThreadsReadWholePicturesWhileTheLoopChangesThem) {
  Ledger ledger;
  State state(ledger);
  std::atomic<bool> done = false;
  std::vector<std::thread> readers;
  std::atomic<int> torn = 0;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      std::uint64_t last = 0;
      while (!done) {
        const LedgerViewPtr view = ledger.view();
        const auto snapshot = state.latest();
        // Each round holds for two pods at once and fences one node; never half of it.
        torn += view->targets(scheduling::HoldKind::Pod).size() % 2 != 0 ? 1 : 0;
        torn += snapshot->generation < last ? 1 : 0;
        last = snapshot->generation;
        for (const auto& record : snapshot->nodes) {
          torn += record->pods.size() > 1 ? 1 : 0;
        }
        ledger.passed("uid-reader", "n1", at(0));
        ledger.in_doubt("n1", at(0));
      }
    });
  }
  for (int round = 0; round < 200; ++round) {
    const std::string name = std::to_string(round % 10);
    ledger.hold_all({hold("a" + name, "n" + name, 10, 60), hold("b" + name, "x", 10, 60)});
    state.upsert(NodeBuilder("n" + name).build());
    state.upsert(PodBuilder("p").uid(std::to_string(round)).on("n" + name).build());
    ledger.fence({"n" + name, "Empty", at(round)});
    state.snapshot();
    ledger.unfence("n" + name);
    const std::vector<std::string> both{"uid-a" + name, "uid-b" + name};
    ledger.drop_pods(both);
  }
  done = true;
  for (std::thread& reader : readers) {
    reader.join();
  }
  EXPECT_EQ(torn, 0);
}

}  // namespace
}  // namespace millwright::cluster
