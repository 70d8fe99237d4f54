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

scheduling::NodeRecordPtr record_of(State& state, std::string_view name) {
  for (const auto& record : state.snapshot()->nodes) {
    if (record->name() == name) {
      return record;
    }
  }
  return nullptr;
}

TEST(StateAndLedger, shows_the_ledger_as_it_is_and_when_all_lists_have_arrived) {
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

TEST(StateAndLedger, takes_a_bound_pods_hold_away_only_with_the_snapshot_that_shows_it) {
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

TEST(StateAndLedger, lets_go_of_holds_for_pods_that_are_gone) {
  Ledger ledger;
  State state(ledger);
  state.upsert(PodBuilder("deleted").build());
  state.upsert(PodBuilder("replaced").uid("first").created(1).build());
  scheduling::Hold first = hold("replaced", "n", 10, 60);
  first.pod_uid = "first";
  ledger.hold_all({hold("deleted", "n", 10, 60), first});
  state.remove_pod({"default", "deleted"}, "uid-deleted");
  state.upsert(PodBuilder("replaced").uid("second").created(2).build());
  EXPECT_THAT(state.snapshot()->holds, IsEmpty());
  EXPECT_TRUE(ledger.view()->target_by_pod_uid.empty());
}

TEST(StateAndLedger, holds_follow_their_claim_to_its_node_and_lapse_with_it) {
  Ledger ledger;
  State state(ledger);
  state.upsert(ClaimBuilder("c").provider("p").build());
  ledger.hold(hold("p", "c", 10, 60));
  state.upsert(NodeBuilder("n").provider("p").build());
  ASSERT_EQ(state.snapshot()->holds.size(), 1U);
  EXPECT_EQ(state.snapshot()->holds.begin()->target, "n");
  ledger.fence({"n", "Empty", at(0)});
  state.remove_node("n");
  EXPECT_TRUE(ledger.view()->fences_by_node.empty());
  EXPECT_EQ(ledger.expire(at(0)).size(), 1U);

  ledger.hold(hold("p", "c", 10, 60));
  state.remove_node_claim("c");
  EXPECT_EQ(ledger.expire(at(0)).size(), 1U);
}

TEST(StateAndLedger, learns_holds_and_fences_from_the_objects_that_mirror_them) {
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
  EXPECT_TRUE(record_of(state, "n")->fenced);
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
  EXPECT_FALSE(record_of(state, "n")->fenced);
}

TEST(StateAndLedger, a_mirrored_hold_for_a_successor_waits_beside_the_pod_that_still_runs) {
  Ledger ledger;
  State state(ledger);
  scheduling::Hold heir = hold("p", "new", 10, 60);
  heir.pod_uid = std::string(kSuccessorOf) + "uid-p";
  state.upsert(PodBuilder("p").on("old").build());
  state.upsert(
      NodeBuilder("new").annotation(model::kHoldsAnnotation, encode_holds({heir})).build());
  state.remove_pod({"default", "p"}, "uid-p");
  EXPECT_THAT(state.snapshot()->holds, ElementsAre(heir));
}

TEST(StateAndLedger, a_mirror_counts_for_the_claim_again_when_its_node_goes) {
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
  state.remove_node("n");
  state.upsert(claim(2));
  EXPECT_THAT(state.snapshot()->holds, ElementsAre(hold("p", "c", 10, 60)));
}

TEST(StateAndLedger, a_repeated_mirror_does_not_bring_back_what_ended) {
  Ledger ledger;
  State state(ledger);
  const std::string holds = encode_holds({hold("p", "n", 10, 60)});
  state.upsert(NodeBuilder("n").version(1).annotation(model::kHoldsAnnotation, holds).build());
  ledger.release("uid-p");
  state.upsert(NodeBuilder("n").version(2).annotation(model::kHoldsAnnotation, holds).build());
  EXPECT_THAT(state.snapshot()->holds, IsEmpty());
}

TEST(StateAndLedger, says_which_mirror_cannot_be_read_and_carries_on) {
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

TEST(StateAndLedger, other_threads_read_whole_pictures_while_the_loop_changes_them) {
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
        torn += view->target_by_pod_uid.size() % 2 != 0 ? 1 : 0;
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
    ledger.settle_all(both);
  }
  done = true;
  for (std::thread& reader : readers) {
    reader.join();
  }
  EXPECT_EQ(torn, 0);
}

}  // namespace
}  // namespace millwright::cluster
