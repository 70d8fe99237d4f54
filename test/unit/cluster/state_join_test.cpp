// How Nodes and NodeClaims become one record, whatever the order of their events.
#include "millwright/cluster/state.hpp"
#include "unit/cluster/describe.hpp"
#include "unit/cluster/objects.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace millwright::cluster {
namespace {

using testing::at;
using testing::ClaimBuilder;
using testing::describe;
using ::testing::ElementsAre;
using testing::NodeBuilder;
using testing::PodBuilder;

using Event = std::function<void(State&)>;

template <class T>
Event seen(std::shared_ptr<const T> object) {
  return [object](State& state) { state.upsert(object); };
}

void expect_joined(const State::Joined& joined, const scheduling::NodeRecord& record) {
  EXPECT_EQ(joined.claim, record.claim);
  EXPECT_EQ(joined.node, record.node);
}

// Every order of the events must end in the picture that the given order ends in.
void expect_order_does_not_matter(const std::vector<Event>& events) {
  std::vector<std::size_t> order(events.size());
  std::iota(order.begin(), order.end(), 0U);
  std::string expected;
  do {
    Ledger ledger;
    State state(ledger);
    for (const std::size_t index : order) {
      events[index](state);
    }
    const auto snapshot = state.snapshot();
    for (const auto& record : snapshot->nodes) {
      if (record->claim) {
        ASSERT_EQ(state.find_claim(record->claim_name()), record)
            << ::testing::PrintToString(order);
        expect_joined(state.joined_by_claim(record->claim_name()), *record);
      }
      if (record->node) {
        expect_joined(state.joined_by_node(record->node->meta.name), *record);
      }
    }
    const std::string got = describe(*snapshot);
    if (expected.empty()) {
      expected = got;
    }
    ASSERT_EQ(got, expected) << ::testing::PrintToString(order);
  } while (std::next_permutation(order.begin(), order.end()));
}

std::vector<std::string> picture(State& state) {
  std::vector<std::string> lines;
  for (const auto& record : state.snapshot()->nodes) {
    lines.push_back((record->node ? record->node->meta.name : "-") + "/" +
                    (record->claim ? record->claim->meta.name : "-") +
                    (record->marked_for_deletion ? " marked" : ""));
  }
  return lines;
}

TEST(StateJoin, EveryOrderOfANodesLifeGivesTheSamePicture) {
  const std::string mirror = encode_reservations({testing::reservation("held", "claim", 100, 600)});
  expect_order_does_not_matter({
      seen(ClaimBuilder("claim").version(1).build()),
      seen(ClaimBuilder("claim")
               .version(3)
               .provider("p1")
               .annotation(model::kReservationsAnnotation, mirror)
               .build()),
      seen(NodeBuilder("node").managed().version(2).build()),
      seen(NodeBuilder("node").managed().version(4).provider("p1").allocatable(4000).build()),
      seen(PodBuilder("bound").version(5).on("node").requests(100).build()),
      seen(PodBuilder("held").version(2).requests(100).build()),
      seen(NodeBuilder("stranger").allocatable(1000).build()),
  });
}

TEST(StateJoin, EveryOrderOfPodEventsGivesTheSamePicture) {
  expect_order_does_not_matter({
      seen(NodeBuilder("n1").build()),
      seen(PodBuilder("moves").version(1).requests(250, 64).build()),
      seen(PodBuilder("moves").version(2).requests(250, 64).on("n1").build()),
      seen(PodBuilder("ends").version(3).requests(100).on("n1").build()),
      seen(PodBuilder("ends").version(4).requests(100).on("n1").phase("Succeeded").build()),
      seen(PodBuilder("db-0").uid("old").created(1).version(5).requests(700).on("n1").build()),
      seen(PodBuilder("db-0").uid("new").created(9).version(6).requests(300).on("n2").build()),
  });
}

TEST(StateJoin, EveryOrderOfSharedInstancesGivesTheSamePicture) {
  expect_order_does_not_matter({
      seen(NodeBuilder("old-name").created(1).provider("p1").build()),
      seen(NodeBuilder("new-name").created(2).provider("p1").build()),
      seen(ClaimBuilder("b").provider("p1").build()),
      seen(ClaimBuilder("a").provider("p1").build()),
      seen(ClaimBuilder("c").provider("p2").build()),
      seen(NodeBuilder("n2").managed().provider("p2").build()),
  });
}

// Its pods would count as those of nobody, and it as empty.
TEST(StateJoin, ASecondNodeOfAMachineDoesNotTakeTheClaimFromOneThatIsReady) {
  Ledger ledger;
  State state(ledger);
  model::NodeClaim claim = *ClaimBuilder("claim").provider("p1").build();
  claim.node_name = "first";
  state.upsert(std::make_shared<const model::NodeClaim>(claim));
  model::Node first = *NodeBuilder("first").managed().created(1).provider("p1").build();
  first.conditions = {{.type = "Ready", .status = model::ConditionStatus::True}};
  state.upsert(std::make_shared<const model::Node>(first));
  state.upsert(NodeBuilder("second").managed().created(2).provider("p1").build());
  EXPECT_EQ(state.joined_by_claim("claim").node->meta.name, "first");
  EXPECT_EQ(state.joined_by_node("second").claim, nullptr);
  // It has come back under another name: the first one hears of its kubelet no more.
  first.conditions.front().status = model::ConditionStatus::Unknown;
  first.meta.resource_version = "9";
  state.upsert(std::make_shared<const model::Node>(first));
  EXPECT_EQ(state.joined_by_claim("claim").node->meta.name, "second");
  EXPECT_EQ(state.joined_by_node("first").claim, nullptr);
}

// Pods of both run on the machine.
TEST(StateJoin, NodesOfOneMachineAreKnownAsSuch) {
  Ledger ledger;
  State state(ledger);
  const auto shares = [&state] {
    std::vector<std::string> names;
    for (const auto& record : state.snapshot()->nodes) {
      if (record->shares_machine) {
        names.push_back(record->name());
      }
    }
    return names;
  };
  state.upsert(NodeBuilder("first").provider("p1").build());
  state.upsert(NodeBuilder("other").provider("p2").build());
  state.upsert(NodeBuilder("nameless").build());
  state.upsert(NodeBuilder("nameless-too").build());
  EXPECT_THAT(shares(), ::testing::IsEmpty());
  const auto second = NodeBuilder("second").provider("p1").build();
  state.upsert(second);
  EXPECT_THAT(shares(), ElementsAre("first", "second"));
  state.remove<model::Node>(model::key_of(second->meta));
  EXPECT_THAT(shares(), ::testing::IsEmpty());
}

TEST(StateJoin, IsToldWithoutASnapshot) {
  Ledger ledger;
  State state(ledger);
  EXPECT_EQ(state.joined_by_claim("claim").claim, nullptr);
  EXPECT_EQ(state.joined_by_node("node").node, nullptr);
  state.upsert(ClaimBuilder("claim").provider("p1").build());
  EXPECT_NE(state.joined_by_claim("claim").claim, nullptr);
  EXPECT_EQ(state.joined_by_claim("claim").node, nullptr);
  state.upsert(NodeBuilder("node").managed().provider("p1").build());
  EXPECT_EQ(state.joined_by_claim("claim").node->meta.name, "node");
  EXPECT_EQ(state.joined_by_node("node").claim->meta.name, "claim");
  state.remove<model::NodeClaim>({"", "claim"});
  EXPECT_EQ(state.joined_by_node("node").claim, nullptr);
  EXPECT_NE(state.joined_by_node("node").node, nullptr);
  EXPECT_TRUE(state.latest()->nodes.empty()) << "a snapshot was made";
}

TEST(StateJoin, ClaimsWithoutNodesAndNodesWithoutClaimsStandAlone) {
  Ledger ledger;
  State state(ledger);
  state.upsert(ClaimBuilder("in-flight").build());
  state.upsert(ClaimBuilder("launched").provider("p1").build());
  state.upsert(NodeBuilder("unmanaged").build());
  EXPECT_THAT(picture(state), ElementsAre("-/in-flight", "-/launched", "unmanaged/-"));
  state.upsert(NodeBuilder("node").managed().provider("p1").build());
  EXPECT_THAT(picture(state), ElementsAre("-/in-flight", "node/launched", "unmanaged/-"));
  state.remove<model::Node>({"", "node"});
  EXPECT_THAT(picture(state), ElementsAre("-/in-flight", "-/launched", "unmanaged/-"));
  state.remove<model::NodeClaim>({"", "in-flight"});
  state.remove<model::NodeClaim>({"", "launched"});
  state.remove<model::Node>({"", "unmanaged"});
  EXPECT_THAT(picture(state), ElementsAre());
}

TEST(StateJoin, AManagedNodeIsLeftOutUntilItCanBeJudged) {
  Ledger ledger;
  State state(ledger);
  state.upsert(NodeBuilder("no-provider").managed().build());
  state.upsert(NodeBuilder("no-type").label(model::kNodePoolLabel, "a").provider("p").build());
  EXPECT_THAT(picture(state), ElementsAre());
  state.upsert(NodeBuilder("no-type")
                   .label(model::kNodePoolLabel, "a")
                   .label(model::kInitializedLabel, "true")
                   .provider("p")
                   .build());
  EXPECT_THAT(picture(state), ElementsAre("no-type/-"));
}

TEST(StateJoin, AChangeOfProviderIdLeavesNothingBehind) {
  Ledger ledger;
  State state(ledger);
  state.upsert(ClaimBuilder("a").provider("p1").build());
  state.upsert(ClaimBuilder("b").provider("p2").build());
  state.upsert(NodeBuilder("n").provider("p1").build());
  EXPECT_THAT(picture(state), ElementsAre("-/b", "n/a"));
  state.upsert(NodeBuilder("n").provider("p2").build());
  EXPECT_THAT(picture(state), ElementsAre("-/a", "n/b"));
  state.upsert(ClaimBuilder("b").provider("p3").build());
  EXPECT_THAT(picture(state), ElementsAre("-/a", "-/b", "n/-"));
}

// The API server does not know it. Answers to what was written since show a claim as little as that
// to its creation.
TEST(StateJoin, OnlyAClaimThatNoEventHasShownIsWithdrawn) {
  for (const bool written : {false, true}) {
    Ledger ledger;
    State state(ledger);
    const auto assumed = ClaimBuilder("assumed").version(7).build();
    const auto shown = ClaimBuilder("shown").version(7).build();
    state.assume(assumed);
    state.assume(shown);
    if (written) {
      state.answered(ClaimBuilder("assumed").version(8).build());
      state.answered(ClaimBuilder("shown").version(8).build());
    }
    state.upsert(shown);
    state.withdraw(*assumed);
    state.withdraw(*shown);
    EXPECT_EQ(state.find_claim("assumed"), nullptr) << written;
    EXPECT_NE(state.find_claim("shown"), nullptr) << written;
  }
}

// Its creation was answered late: the watch has shown it, and its end, before.
TEST(StateJoin, AClaimThatEndedBeforeItsCreationWasAnsweredStaysGone) {
  Ledger ledger;
  State state(ledger);
  const auto claim = ClaimBuilder("c").version(7).build();
  state.expect_claim("c");
  state.upsert(claim);
  state.remove<model::NodeClaim>(model::key_of(claim->meta));
  state.assume(claim);
  state.stop_expecting("c");
  EXPECT_EQ(state.find_claim("c"), nullptr);
  state.assume(claim);
  EXPECT_NE(state.find_claim("c"), nullptr);
}

// A write was answered late: the watch has shown what came of it, and the end, before.
TEST(StateJoin, WhatEndedBeforeAWriteOfItWasAnsweredStaysGone) {
  Ledger ledger;
  State state(ledger);
  const auto claim = ClaimBuilder("c").version(7).build();
  const auto node = NodeBuilder("n").build();
  const auto pool = std::make_shared<model::NodePool>();
  pool->meta.name = "p";
  const auto objects = [&state] {
    const auto snapshot = state.snapshot();
    return snapshot->nodes.size() + snapshot->node_pools.size();
  };
  state.upsert(claim);
  state.upsert(node);
  state.upsert(std::shared_ptr<const model::NodePool>(pool));
  ASSERT_EQ(objects(), 3U);
  state.remove<model::NodeClaim>(model::key_of(claim->meta));
  state.remove<model::Node>(model::key_of(node->meta));
  state.remove<model::NodePool>(model::key_of(pool->meta));
  state.answered(claim);
  state.answered(node);
  state.answered(std::shared_ptr<const model::NodePool>(pool));
  EXPECT_EQ(objects(), 0U);
}

TEST(StateJoin, AnAnswerIsOfTheObjectThatIsHere) {
  Ledger ledger;
  State state(ledger);
  const auto provider_id = [&state] { return state.find_claim("c")->claim->provider_id; };
  state.upsert(ClaimBuilder("c").version(7).build());
  state.answered(ClaimBuilder("c").version(8).provider("p1").build());
  EXPECT_EQ(provider_id(), "p1");
  auto earlier = *ClaimBuilder("c").version(9).provider("p2").build();
  earlier.meta.uid = "of an earlier claim of the name";
  state.answered(std::make_shared<const model::NodeClaim>(earlier));
  EXPECT_EQ(provider_id(), "p1");
}

TEST(StateJoin, AnAssumedClaimCountsUntilItsEventReplacesIt) {
  Ledger ledger;
  State state(ledger);
  state.assume(ClaimBuilder("c").version(7).build());
  EXPECT_THAT(picture(state), ElementsAre("-/c"));
  state.upsert(ClaimBuilder("c").version(7).provider("p1").build());
  EXPECT_EQ(state.snapshot()->nodes[0]->claim->provider_id, "p1");
  // The answer to a write may arrive after the event that shows it.
  state.assume(ClaimBuilder("c").version(9).build());
  EXPECT_EQ(state.snapshot()->nodes[0]->claim->provider_id, "p1");
}

TEST(StateJoin, AClaimIsFoundByNameBeforeAndAfterItHasANode) {
  Ledger ledger;
  State state(ledger);
  EXPECT_EQ(state.find_claim("claim"), nullptr);
  state.upsert(ClaimBuilder("claim").provider("p").build());
  // A node of the claim's own name is another record.
  state.upsert(NodeBuilder("claim").build());
  ASSERT_NE(state.find_claim("claim"), nullptr);
  EXPECT_EQ(state.find_claim("claim")->node, nullptr);
  state.upsert(NodeBuilder("node").provider("p").build());
  ASSERT_NE(state.find_claim("claim"), nullptr);
  EXPECT_EQ(state.find_claim("claim")->name(), "node");
  EXPECT_EQ(state.find_claim("node"), nullptr) << "no claim is called that";
  // Changes that no snapshot was asked for since count.
  state.mark_for_deletion("claim", true);
  EXPECT_TRUE(state.find_claim("claim")->marked_for_deletion);
  state.remove<model::Node>({"", "node"});
  EXPECT_EQ(state.find_claim("claim")->node, nullptr);
  state.remove<model::NodeClaim>({"", "claim"});
  EXPECT_EQ(state.find_claim("claim"), nullptr);
}

TEST(StateJoin, MarksWhatIsGoingByKarpentersRule) {
  Ledger ledger;
  State state(ledger);
  state.upsert(ClaimBuilder("deleting").deleting().build());
  state.upsert(ClaimBuilder("flagged").build());
  state.upsert(ClaimBuilder("terminating").condition(model::kInstanceTerminating).build());
  state.upsert(ClaimBuilder("kept").provider("p1").build());
  state.upsert(NodeBuilder("n-kept").provider("p1").deleting().build());
  state.upsert(NodeBuilder("n-unmanaged").deleting().build());
  state.mark_for_deletion("flagged", true);
  state.mark_for_deletion("unknown", true);
  EXPECT_THAT(picture(state), ElementsAre("-/deleting marked", "-/flagged marked", "n-kept/kept",
                                          "n-unmanaged/- marked", "-/terminating marked"));
  state.mark_for_deletion("flagged", false);
  EXPECT_THAT(picture(state), ::testing::Contains("-/flagged"));
}

TEST(StateJoin, AnotherObjectOfTheNameStartsWithoutMarks) {
  Ledger ledger;
  State state(ledger);
  state.upsert(ClaimBuilder("c").uid("1").created(1).build());
  state.mark_for_deletion("c", true);
  state.nominate("c", at(60));
  state.upsert(ClaimBuilder("c").uid("2").created(5).build());
  const auto record = state.snapshot()->nodes[0];
  EXPECT_FALSE(record->marked_for_deletion);
  EXPECT_FALSE(record->nominated_until.has_value());
  // The older object's last words come too late.
  state.upsert(ClaimBuilder("c").uid("1").created(1).deleting().build());
  EXPECT_EQ(state.snapshot()->nodes[0]->claim->meta.uid, "2");
}

TEST(StateJoin, ANominationSurvivesTheStepFromClaimToNode) {
  Ledger ledger;
  State state(ledger);
  state.upsert(ClaimBuilder("c").provider("p").build());
  state.nominate("c", at(60));
  state.nominate("nobody", at(60));
  state.upsert(NodeBuilder("n").provider("p").build());
  EXPECT_EQ(state.snapshot()->nodes[0]->nominated_until, at(60));
  state.nominate("n", at(90));
  EXPECT_EQ(state.snapshot()->nodes[0]->nominated_until, at(90));
}

}  // namespace
}  // namespace millwright::cluster
