#include "millwright/cluster/ledger.hpp"

#include "unit/cluster/objects.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace millwright::cluster {
namespace {

using testing::at;
using ::testing::ElementsAre;
using testing::hold;
using ::testing::IsEmpty;

std::vector<std::string> uids_on(const Ledger& ledger, std::string_view target) {
  const LedgerViewPtr view = ledger.view();
  const auto found = view->holds_by_target.find(target);
  std::vector<std::string> uids;
  if (found != view->holds_by_target.end()) {
    for (const scheduling::Hold& item : found->second) {
      uids.push_back(item.pod_uid);
    }
  }
  return uids;
}

TEST(Ledger, GivesAPodOneHoldAndTheNewestOneCounts) {
  Ledger ledger;
  ledger.hold(hold("b", "claim-1", 500, 60));
  ledger.hold(hold("a", "claim-1", 500, 60));
  EXPECT_THAT(uids_on(ledger, "claim-1"), ElementsAre("uid-a", "uid-b"));
  ledger.hold(hold("a", "claim-2", 500, 60));
  EXPECT_THAT(uids_on(ledger, "claim-1"), ElementsAre("uid-b"));
  EXPECT_THAT(uids_on(ledger, "claim-2"), ElementsAre("uid-a"));
  ASSERT_NE(ledger.view()->hold_of("uid-a"), nullptr);
  EXPECT_EQ(ledger.view()->hold_of("uid-a")->target, "claim-2");
  EXPECT_EQ(ledger.view()->hold_of("uid-c"), nullptr);
}

// The claim was created although the answer said otherwise, or has not come yet.
TEST(Ledger, LetsAClaimSpeakForHoldsMadeBeforeItHadAName) {
  const std::string planned = "uid-a";
  auto holds = std::vector{hold("a", planned, 1, 60), hold("b", planned, 1, 60)};
  for (auto& each : holds) {
    each.target_is = scheduling::HoldTarget::PlannedClaim;
  }
  Ledger ledger;
  ledger.hold_all(holds);
  ledger.adopt_holds("NodeClaim/c", "c", {hold("a", "c", 1, 60)});
  EXPECT_THAT(uids_on(ledger, "c"), ElementsAre("uid-a"));
  EXPECT_THAT(uids_on(ledger, planned), ElementsAre("uid-b"));
  ledger.lapse(planned);
  EXPECT_EQ(ledger.expire(at(0)).size(), 1U);
  EXPECT_EQ(ledger.view()->hold_of("uid-b"), nullptr);
  // It ended as a plan; a claim may still keep the room.
  ledger.adopt_holds("NodeClaim/d", "d", {hold("b", "d", 1, 60)});
  EXPECT_THAT(uids_on(ledger, "d"), ElementsAre("uid-b"));
  EXPECT_THAT(uids_on(ledger, "c"), ElementsAre("uid-a"));
}

// The pod still runs when its successor's room is kept, and is gone before the successor comes.
TEST(Ledger, APodsOwnHoldAndItsSuccessorsAreTwo) {
  auto successors = hold("a", "y", 1, 60);
  successors.kind = scheduling::HoldKind::Successor;
  Ledger ledger;
  ledger.hold_all({hold("a", "x", 1, 60), successors});
  ASSERT_NE(ledger.view()->hold_of("uid-a"), nullptr);
  EXPECT_EQ(ledger.view()->hold_of("uid-a")->target, "x");
  ledger.drop_pods(std::vector<std::string>{"uid-a"});
  EXPECT_EQ(ledger.view()->hold_of("uid-a"), nullptr);
  EXPECT_NE(ledger.view()->find(successors.id()), nullptr);
  ledger.release(successors.id());
  EXPECT_EQ(ledger.view()->find(successors.id()), nullptr);
}

TEST(Ledger, ReleasesByPodAndByTarget) {
  Ledger ledger;
  ledger.hold_all({hold("a", "x", 1, 60), hold("b", "x", 1, 60), hold("c", "y", 1, 60)});
  ledger.release({.pod_uid = "uid-a"});
  ledger.release({.pod_uid = "uid-unknown"});
  EXPECT_THAT(uids_on(ledger, "x"), ElementsAre("uid-b"));
  ledger.release_target("x");
  EXPECT_THAT(uids_on(ledger, "x"), IsEmpty());
  EXPECT_FALSE(ledger.view()->holds_by_target.contains("x"));
  EXPECT_THAT(uids_on(ledger, "y"), ElementsAre("uid-c"));
}

TEST(Ledger, MovesHoldsAndDeadlinesFromTheClaimToItsNode) {
  Ledger ledger;
  ledger.hold_all({hold("b", "claim", 1, 60), hold("a", "node", 1, 90)});
  ledger.rename_target("claim", "node");
  ledger.rename_target("claim", "node");
  ledger.rename_target("node", "node");
  EXPECT_THAT(uids_on(ledger, "node"), ElementsAre("uid-a", "uid-b"));
  EXPECT_EQ(ledger.view()->hold_of("uid-b")->target, "node");
  EXPECT_EQ(ledger.view()->hold_of("uid-b")->deadline, at(60));
}

TEST(Ledger, ReturnsWhatExpiresAndKeepsTheRest) {
  Ledger ledger;
  ledger.hold_all({hold("a", "x", 1, 10), hold("b", "x", 1, 20), hold("c", "y", 1, 10)});
  EXPECT_THAT(ledger.expire(at(9)), IsEmpty());
  EXPECT_THAT(ledger.expire(at(10)), ElementsAre(hold("a", "x", 1, 10), hold("c", "y", 1, 10)));
  ledger.set_deadline("x", at(40));
  EXPECT_THAT(ledger.expire(at(39)), IsEmpty());
  ledger.lapse("x");
  const auto lapsed = ledger.expire(at(0));
  ASSERT_EQ(lapsed.size(), 1U);
  EXPECT_EQ(lapsed[0].pod_uid, "uid-b");
}

TEST(Ledger, KeepsFencesUntilTheyAreLifted) {
  Ledger ledger;
  ledger.fence({"n1", "Empty", at(1)});
  ledger.fence({"n1", "Drifted", at(2)});
  ASSERT_EQ(ledger.view()->fences_by_node.size(), 1U);
  EXPECT_EQ(ledger.view()->fences_by_node.find("n1")->second.reason, "Drifted");
  ledger.unfence("n1");
  ledger.unfence("n1");
  EXPECT_TRUE(ledger.view()->fences_by_node.empty());
}

TEST(Ledger, AViewNeverChangesAndIsSharedWhileNothingHappens) {
  Ledger ledger;
  ledger.hold(hold("a", "x", 1, 10));
  const LedgerViewPtr before = ledger.view();
  EXPECT_EQ(ledger.view(), before);
  ledger.release({.pod_uid = "uid-nobody"});
  ledger.set_deadline("x", at(10));
  ledger.hold(hold("a", "x", 1, 10));
  EXPECT_EQ(ledger.view(), before);
  ledger.hold(hold("b", "x", 1, 10));
  ledger.fence({"n", "Empty", at(0)});
  EXPECT_EQ(before->holds_by_target.find("x")->second.size(), 1U);
  EXPECT_TRUE(before->fences_by_node.empty());
  EXPECT_GT(ledger.view()->generation, before->generation);
}

TEST(Ledger, MirrorsTeachWhatIsNotKnownAndTheirNextTextReplacesIt) {
  Ledger ledger;
  ledger.adopt_holds("NodeClaim/c", "c", {hold("a", "c", 1, 60), hold("b", "c", 1, 60)});
  EXPECT_THAT(uids_on(ledger, "c"), ElementsAre("uid-a", "uid-b"));
  ledger.adopt_holds("NodeClaim/c", "n", {hold("b", "c", 2, 60)});
  EXPECT_THAT(uids_on(ledger, "c"), IsEmpty());
  EXPECT_THAT(uids_on(ledger, "n"), ElementsAre("uid-b"));
  // Another object's mirror takes the pod over; the first one no longer speaks for it.
  ledger.adopt_holds("NodeClaim/d", "d", {hold("b", "d", 2, 60)});
  ledger.adopt_holds("NodeClaim/c", "n", {});
  EXPECT_THAT(uids_on(ledger, "d"), ElementsAre("uid-b"));
}

TEST(Ledger, MirrorsDoNotOverruleWhatThisProcessDecided) {
  Ledger ledger;
  ledger.hold(hold("kept", "mine", 1, 60));
  ledger.hold(hold("released", "mine", 1, 60));
  ledger.hold(hold("expired", "mine", 1, 5));
  ledger.release({.pod_uid = "uid-released"});
  ASSERT_EQ(ledger.expire(at(5)).size(), 1U);
  ledger.adopt_holds("NodeClaim/c", "c",
                     {hold("kept", "c", 1, 60), hold("released", "c", 1, 60),
                      hold("expired", "c", 1, 5), hold("new", "c", 1, 60)});
  EXPECT_THAT(uids_on(ledger, "c"), ElementsAre("uid-new"));
  EXPECT_THAT(uids_on(ledger, "mine"), ElementsAre("uid-kept"));
  ledger.adopt_holds("NodeClaim/c", "c", {});
  EXPECT_THAT(uids_on(ledger, "mine"), ElementsAre("uid-kept"));
  // A longer promise than the one that expired is a new promise.
  ledger.adopt_holds("NodeClaim/c", "c", {hold("expired", "c", 1, 90)});
  EXPECT_THAT(uids_on(ledger, "c"), ElementsAre("uid-expired"));
  // And so is one made here again.
  ledger.hold(hold("released", "mine", 1, 60));
  EXPECT_THAT(uids_on(ledger, "mine"), ElementsAre("uid-kept", "uid-released"));
}

TEST(Ledger, MirroredFencesFollowTheirObjectAndLiftedOnesStayLifted) {
  Ledger ledger;
  const Fence mirrored{"n1", "Empty", at(5)};
  ledger.adopt_fence("Node/n1", "n1", mirrored);
  EXPECT_EQ(ledger.view()->fences_by_node.find("n1")->second, mirrored);
  ledger.adopt_fence("Node/n1", "n1", std::nullopt);
  EXPECT_TRUE(ledger.view()->fences_by_node.empty());

  ledger.fence({"n1", "Drifted", at(7)});
  ledger.adopt_fence("Node/n1", "n1", std::nullopt);
  ledger.adopt_fence("Node/n1", "n1", mirrored);
  EXPECT_EQ(ledger.view()->fences_by_node.find("n1")->second.reason, "Drifted");

  ledger.unfence("n1");
  ledger.adopt_fence("Node/n1", "n1", Fence{"n1", "Drifted", at(7)});
  EXPECT_TRUE(ledger.view()->fences_by_node.empty());
  ledger.adopt_fence("Node/n1", "n1", Fence{"n1", "Drifted", at(8)});
  EXPECT_EQ(ledger.view()->fences_by_node.size(), 1U);
}

TEST(Ledger, SettlingPodsEndsTheirHoldsAndAttempts) {
  Ledger ledger;
  ledger.hold_all({hold("a", "x", 1, 60), hold("b", "x", 1, 60)});
  ledger.passed("uid-a", "x", at(0));
  const std::vector<std::string> settled{"uid-a", "uid-stranger"};
  const auto generations = ledger.drop_pods(settled);
  EXPECT_LT(generations.before, generations.after);
  EXPECT_EQ(ledger.view()->generation, generations.after);
  EXPECT_THAT(uids_on(ledger, "x"), ElementsAre("uid-b"));
  EXPECT_THAT(ledger.in_doubt("x", at(0)), IsEmpty());
}

TEST(Attempts, AreInDoubtUntilSettledRepeatedOrTooOld) {
  Ledger ledger;
  ledger.passed("p2", "n1", at(0));
  ledger.passed("p1", "n1", at(0));
  ledger.passed("p1", "n2", at(1));
  EXPECT_THAT(ledger.in_doubt("n1", at(1)), ElementsAre("p1", "p2"));
  EXPECT_THAT(ledger.in_doubt("n2", at(1)), ElementsAre("p1"));
  EXPECT_THAT(ledger.in_doubt("n3", at(1)), IsEmpty());
  const std::vector<std::string_view> only_n3{"n3"};
  ledger.attempted("p1", {}, only_n3, at(2));
  EXPECT_THAT(ledger.in_doubt("n1", at(2)), ElementsAre("p2"));
  EXPECT_THAT(ledger.in_doubt("n3", at(2)), ElementsAre("p1"));
  ledger.end_attempt("p2");
  EXPECT_THAT(ledger.in_doubt("n1", at(2)), IsEmpty());
  EXPECT_THAT(ledger.in_doubt("n3", at(2) + Ledger::kPassLifetime - base::Duration(1)),
              ElementsAre("p1"));
  EXPECT_THAT(ledger.in_doubt("n3", at(2) + Ledger::kPassLifetime), IsEmpty());
}

TEST(Attempts, AreForgottenByTheAgeOfTheLastOne) {
  Ledger ledger;
  ledger.passed("p", "n1", at(0));
  ledger.passed("p", "n1", at(5));
  ledger.passed("other", "n2", at(12));
  EXPECT_THAT(ledger.in_doubt("n1", at(12)), ElementsAre("p"));
}

TEST(Attempts, ThatHaveNoOutcomeYetMayLandAnywhere) {
  Ledger ledger;
  ledger.attempt("p", at(0));
  EXPECT_THAT(ledger.in_doubt("any", at(0)), ElementsAre("p"));
  const std::vector<std::string_view> n1{"n1"};
  ledger.attempted("p", testing::resources(100), n1, at(0));
  EXPECT_THAT(ledger.in_doubt("any", at(0)), IsEmpty());
  ASSERT_EQ(ledger.passes(at(0)).size(), 1U);
  EXPECT_EQ(ledger.passes(at(0))[0]->requests, testing::resources(100));
  ledger.attempt("p", at(1));
  EXPECT_THAT(ledger.in_doubt("any", at(1)), ElementsAre("p"));
  ledger.attempted("p", {}, std::vector<std::string_view>(), at(1));  // refused everywhere
  EXPECT_THAT(ledger.in_doubt("n1", at(1)), IsEmpty());
}

TEST(Attempts, StayBoundedAndErrOnTheSideOfDoubt) {
  Ledger ledger;
  const std::vector<std::string_view> n1{"n1"};
  for (std::size_t i = 0; i < 9 * Ledger::kDetailedPasses; ++i) {
    ledger.attempted("p" + std::to_string(i), {}, n1, at(0));
  }
  EXPECT_LE(ledger.passes(at(0)).size(), 8 * Ledger::kDetailedPasses);
  // Past the limit of detail the newest pod counts everywhere rather than nowhere.
  const std::string newest = "p" + std::to_string(9 * Ledger::kDetailedPasses - 1);
  EXPECT_THAT(ledger.in_doubt("n2", at(0)), ::testing::Contains(newest));
  ledger.attempted("later", {}, n1, at(60));
  EXPECT_EQ(ledger.passes(at(60)).size(), 1U);
}

TEST(Ledger, IndexesAgreeAfterAnySequenceOfCalls) {
  const bool held = rc::check([] {
    Ledger ledger;
    const auto steps =
        *rc::gen::arbitrary<std::vector<std::tuple<std::uint8_t, std::uint8_t, std::uint8_t>>>();
    for (const auto& [kind, pod, target] : steps) {
      const std::string pod_name = std::to_string(pod % 6);
      const std::string name = "t" + std::to_string(target % 4);
      switch (kind % 8) {
        case 0:
          ledger.release({.pod_uid = "uid-" + pod_name});
          break;
        case 1:
          ledger.release_target(name);
          break;
        case 2:
          ledger.rename_target(name, "t" + std::to_string(pod % 4));
          break;
        case 3:
          ledger.expire(at(pod % 20));
          break;
        case 4:
          ledger.adopt_holds("NodeClaim/" + name, name, {hold(pod_name, name, 1, target % 20)});
          break;
        default:
          ledger.hold(hold(pod_name, name, 1, target % 20));
      }
      const LedgerViewPtr view = ledger.view();
      std::size_t holds = 0;
      for (const auto& [key, list] : view->holds_by_target) {
        RC_ASSERT(!list.empty());
        for (const scheduling::Hold& item : list) {
          RC_ASSERT(item.target == key);
          RC_ASSERT(view->hold_of(item.pod_uid) == &item);
          ++holds;
        }
      }
      RC_ASSERT(holds == view->targets(scheduling::HoldKind::Pod).size());
    }
  });
  EXPECT_TRUE(held);
}

}  // namespace
}  // namespace millwright::cluster
