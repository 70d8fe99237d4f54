// Scheduling attempts that may still end in a binding.
#include "millwright/cluster/ledger.hpp"
#include "unit/cluster/objects.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::cluster {
namespace {

using testing::at;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::pass_of;
using testing::PodBuilder;

TEST(Attempts, AreInDoubtUntilSettledOrTooOld) {
  Ledger ledger;
  const auto pass = [&](const std::string& pod, const std::string& node, std::int64_t seconds) {
    ledger.attempted(pass_of(PodBuilder(pod).uid(pod).value(), {node}, seconds));
  };
  pass("p2", "n1", 0);
  pass("p1", "n1", 0);
  EXPECT_THAT(ledger.in_doubt("n1", at(1)), ElementsAre("p1", "p2"));
  EXPECT_THAT(ledger.in_doubt("n3", at(1)), IsEmpty());
  pass("p3", "n3", 2);
  EXPECT_THAT(ledger.in_doubt("n3", at(2)), ElementsAre("p3"));
  ledger.end_attempt("p2");
  EXPECT_THAT(ledger.in_doubt("n1", at(2)), ElementsAre("p1"));
  EXPECT_THAT(ledger.in_doubt("n3", at(2) + Ledger::kPassLifetime - base::Duration(1)),
              ElementsAre("p3"));
  EXPECT_THAT(ledger.in_doubt("n3", at(2) + Ledger::kPassLifetime), IsEmpty());
}

// One kube-scheduler has taken over from another, which let the pod go to n1 and is binding it.
TEST(Attempts, StayInDoubtWhenThePodIsAskedForAgain) {
  for (const std::vector<std::string>& then : {std::vector<std::string>{"n2"}, {}}) {
    SCOPED_TRACE(then.size());
    Ledger ledger;
    const auto pod = PodBuilder("p").value();
    ledger.attempt("uid-p", at(0));
    ledger.attempted(pass_of(pod, {"n1"}, 0));
    ledger.attempt("uid-p", at(4));
    ledger.attempted(pass_of(pod, then, 4));
    EXPECT_THAT(ledger.in_doubt("n1", at(4)), ElementsAre("uid-p"));
    EXPECT_THAT(ledger.in_doubt("other", at(4)), IsEmpty()) << "it has been answered";
    ledger.expire(at(10) - base::Duration(1));
    EXPECT_THAT(ledger.in_doubt("n1", at(10) - base::Duration(1)), ElementsAre("uid-p"));
    EXPECT_THAT(ledger.in_doubt("n1", at(10)), IsEmpty());
  }
}

TEST(Attempts, ThatWereFollowedByAnotherAreForRemovalsAlone) {
  Ledger ledger;
  const auto pod = PodBuilder("p").requests(100).value();
  ledger.attempted(pass_of(pod, {"n1"}, 0));
  ledger.attempted(pass_of(pod, {"n1", "n2"}, 1));
  EXPECT_THAT(ledger.in_doubt("n1", at(1)), ElementsAre("uid-p")) << "once";
  EXPECT_EQ(ledger.passes(at(1)).size(), 1U);
  {
    const Traffic traffic = ledger.traffic(at(1));
    const std::uint32_t number = traffic.number_of(Ledger::node_hash("n1"));
    EXPECT_EQ(traffic.crowd_of(scheduling::group_of(pod))->on(number), 1);
  }
  const Ledger::Arrival gone[] = {{.pod_uid = "uid-p", .group = {}, .node = {}}};
  ledger.settle(gone);
  EXPECT_THAT(ledger.in_doubt("n1", at(1)), IsEmpty());
}

// The newest ones count.
TEST(Attempts, ThatWereFollowedByAnotherAreBounded) {
  Ledger ledger;
  const auto pod = PodBuilder("p").value();
  for (const char* const node : {"n1", "n2", "n3", "n4"}) {
    ledger.attempted(pass_of(pod, {node}, 0));
  }
  EXPECT_THAT(ledger.in_doubt("n1", at(1)), IsEmpty());
  EXPECT_THAT(ledger.in_doubt("n2", at(1)), ElementsAre("uid-p"));
  for (int i = 0; i < 2'000; ++i) {
    const auto other = PodBuilder("q" + std::to_string(10'000 + i)).value();
    ledger.attempted(pass_of(other, {"m"}, 2));
    ledger.attempted(pass_of(other, {"n"}, 3));
  }
  EXPECT_EQ(ledger.in_doubt("m", at(3)).size(), 1'024U);
  EXPECT_THAT(ledger.in_doubt("n2", at(3)), IsEmpty());
  EXPECT_THAT(ledger.in_doubt("m", at(3)), ::testing::Contains("uid-q11999"));
}

TEST(Attempts, AreForgottenByTheEndOfTheLastOne) {
  Ledger ledger;
  const auto pod = PodBuilder("p").value();
  ledger.attempted(pass_of(pod, {"n1"}, 0));
  ledger.attempted(pass_of(pod, {"n1"}, 5));
  ledger.attempted(pass_of(PodBuilder("other").value(), {"n2"}, 12));
  EXPECT_THAT(ledger.in_doubt("n1", at(12)), ElementsAre("uid-p"));
}

// A binding cycle that waits for volumes outlives those that began after it.
TEST(Attempts, EachHasItsOwnEnd) {
  Ledger ledger;
  const auto slow = PodBuilder("slow").value();
  ledger.attempt("uid-slow", at(0));
  ledger.attempted(pass_of(slow, {"n"}, 0, Ledger::kVolumeBindTimeout));
  ledger.attempted(pass_of(PodBuilder("quick").value(), {"n"}, 1));
  EXPECT_THAT(ledger.in_doubt("n", at(1)), ElementsAre("uid-quick", "uid-slow"));
  ledger.attempted(pass_of(PodBuilder("later").value(), {"m"}, 599));
  EXPECT_THAT(ledger.in_doubt("n", at(599)), ElementsAre("uid-slow"));
  EXPECT_THAT(ledger.in_doubt("n", at(600)), IsEmpty());
  // The next attempt of the pod replaces what the last one left, to its own end.
  ledger.attempted(pass_of(slow, {"n"}, 599));
  EXPECT_THAT(ledger.in_doubt("n", at(608)), ElementsAre("uid-slow"));
  EXPECT_THAT(ledger.in_doubt("n", at(609)), IsEmpty());
}

TEST(Attempts, ThatNobodyToldOfMayBeThereUntilSaidOtherwise) {
  Ledger ledger;
  EXPECT_FALSE(ledger.may_be_unseen(at(0)));
  ledger.expect_unseen(at(15));
  EXPECT_TRUE(ledger.may_be_unseen(at(0)));
  EXPECT_TRUE(ledger.may_be_unseen(at(15) - base::Duration(1)));
  EXPECT_FALSE(ledger.may_be_unseen(at(15)));
  // Later news make it no shorter.
  ledger.expect_unseen(at(12));
  EXPECT_TRUE(ledger.may_be_unseen(at(14)));
  ledger.expect_unseen(at(20));
  EXPECT_TRUE(ledger.may_be_unseen(at(19)));
  EXPECT_THAT(ledger.in_doubt("n", at(0)), IsEmpty());
}

TEST(Attempts, ThatHaveNoOutcomeYetMayLandAnywhere) {
  Ledger ledger;
  const auto pod = PodBuilder("p").requests(100).value();
  ledger.attempt("uid-p", at(0));
  EXPECT_THAT(ledger.in_doubt("any", at(0)), ElementsAre("uid-p"));
  ledger.attempted(pass_of(pod, {"n1"}, 0));
  EXPECT_THAT(ledger.in_doubt("any", at(0)), IsEmpty());
  ASSERT_EQ(ledger.passes(at(0)).size(), 1U);
  EXPECT_EQ(ledger.passes(at(0))[0]->requests, scheduling::effective_requests(pod));
  EXPECT_EQ(ledger.passes(at(0))[0]->group, scheduling::group_of(pod));
  ledger.attempt("uid-p", at(1));
  EXPECT_THAT(ledger.in_doubt("any", at(1)), ElementsAre("uid-p"));
  ledger.attempted(pass_of(pod, {}, 1));  // refused everywhere
  EXPECT_THAT(ledger.in_doubt("any", at(1)), IsEmpty());
}

// A report of an earlier attempt may arrive after the next one has begun.
TEST(Attempts, AReportEndsOnlyWhatHasLastedForAWhile) {
  Ledger ledger;
  const auto slow = PodBuilder("slow").value();
  ledger.attempted(pass_of(slow, {"n"}, 0, Ledger::kVolumeBindTimeout));
  ledger.attempt_failed("uid-slow");
  EXPECT_THAT(ledger.in_doubt("n", at(1)), ElementsAre("uid-slow"));
  ledger.expire(at(10) - base::Duration(1));
  ledger.attempt_failed("uid-slow");
  EXPECT_THAT(ledger.in_doubt("n", at(10)), ElementsAre("uid-slow"));
  ledger.expire(at(10));
  ledger.attempt_failed("uid-slow");
  EXPECT_THAT(ledger.in_doubt("n", at(10)), IsEmpty());
  ledger.attempt_failed("uid-slow");
}

TEST(Attempts, AreCountedByGroupAndByRequestsOnEachNode) {
  Ledger ledger;
  const auto pod = [](const std::string& name, const std::string& set, std::int64_t milli_cpu) {
    return PodBuilder(name).requests(milli_cpu).owned_by(set).value();
  };
  const auto a1 = pod("a1", "a", 100);
  ledger.attempted(pass_of(a1, {"n1", "n2", "n1"}, 0));
  ledger.attempted(pass_of(pod("a2", "a", 100), {"n2"}, 0));
  ledger.attempted(pass_of(pod("b1", "b", 100), {"n2", "n3"}, 0, Ledger::kVolumeBindTimeout));
  ledger.attempt("uid-new", at(0));
  const auto counts = [&](base::TimePoint now) {
    const Traffic traffic = ledger.traffic(now);
    std::vector<std::int32_t> found;
    const Crowd* const of_group = traffic.crowd_of(scheduling::group_of(a1));
    const auto alike = traffic.crowds().find(scheduling::effective_requests(a1));
    for (const char* const node : {"n1", "n2", "n3", "n4"}) {
      const std::uint32_t number = traffic.number_of(Ledger::node_hash(node));
      found.push_back(of_group == nullptr ? 0 : of_group->on(number));
      found.push_back(alike == traffic.crowds().end() ? 0 : alike->second.on(number));
    }
    return found;
  };
  EXPECT_THAT(counts(at(0)), ElementsAre(1, 1, 2, 3, 0, 1, 0, 0));
  {
    const Traffic traffic = ledger.traffic(at(0));
    EXPECT_EQ(traffic.of_group(scheduling::group_of(a1)).size(), 2U);
    EXPECT_THAT(traffic.groups_of_owner(scheduling::group_of(a1).owner_uid()),
                ElementsAre(scheduling::group_of(a1)));
    EXPECT_EQ(traffic.of_pod("uid-a1")->pod_uid, "uid-a1");
    EXPECT_EQ(traffic.of_pod("uid-nobody"), nullptr);
  }
  ledger.end_attempt("uid-a1");
  EXPECT_THAT(counts(at(0)), ElementsAre(0, 0, 1, 2, 0, 1, 0, 0));
  EXPECT_THAT(counts(at(0) + Ledger::kPassLifetime), ElementsAre(0, 0, 0, 1, 0, 1, 0, 0));
}

TEST(Attempts, ThoseThatAreSettledAreCounted) {
  Ledger ledger;
  ledger.attempted(pass_of(PodBuilder("p").value(), {"n"}, 0));
  const Ledger::Arrival arrivals[] = {{.pod_uid = "uid-p", .group = {}, .node = "n"},
                                      {.pod_uid = "uid-other", .group = {}, .node = "n"}};
  EXPECT_EQ(ledger.settled(), 0U);
  ledger.settle(arrivals);
  EXPECT_EQ(ledger.settled(), 1U);
  EXPECT_EQ(ledger.traffic(at(0)).settled(), 1U);
}

// Names of nodes that are gone do not pile up, and those in use keep their counts.
TEST(Attempts, NodesThatComeAndGoAreNumberedAnew) {
  Ledger ledger;
  const auto lasting = PodBuilder("lasting").value();
  ledger.attempted(pass_of(lasting, {"n"}, 0, Ledger::kVolumeBindTimeout));
  for (int i = 0; i < 5'000; ++i) {
    const std::string gone = "gone-" + std::to_string(i);
    ledger.attempted(pass_of(PodBuilder("quick").value(), {gone}, 1));
    const Traffic traffic = ledger.traffic(at(1));
    const std::uint32_t number = traffic.number_of(Ledger::node_hash("n"));
    ASSERT_EQ(traffic.crowd_of(scheduling::group_of(lasting))->on(number), 1) << i;
    ASSERT_LT(traffic.number_of(Ledger::node_hash(gone)), 2'048U);
  }
}

TEST(Attempts, StayBoundedAndErrOnTheSideOfDoubt) {
  Ledger ledger;
  const auto name = [](std::size_t i) { return "p" + std::to_string(100'000 + i); };
  for (std::size_t i = 0; i < 9 * Ledger::kDetailedPasses; ++i) {
    ledger.attempted({.pod_uid = name(i),
                      .at = at(0),
                      .until = at(10),
                      .node_hashes = {Ledger::node_hash("n1")}});
  }
  EXPECT_LE(ledger.passes(at(0)).size(), 8 * Ledger::kDetailedPasses);
  // Past the limit of detail the newest pod counts everywhere rather than nowhere.
  EXPECT_THAT(ledger.in_doubt("n2", at(0)),
              ::testing::Contains(name(9 * Ledger::kDetailedPasses - 1)));
  ledger.attempted(pass_of(PodBuilder("later").value(), {"n1"}, 60));
  EXPECT_EQ(ledger.passes(at(60)).size(), 1U);
}

// Passes of pods `first`, `first` + 1, ... that name `nodes` nodes each, all different.
void attempt_made_up(Ledger& ledger, std::size_t first, std::size_t count, std::size_t nodes,
                     base::TimePoint now) {
  for (std::size_t pod = first; pod < first + count; ++pod) {
    const std::string name = "made-up-" + std::to_string(pod);
    Pass pass{.pod_uid = name,
              .group = scheduling::GroupId(name + "/"),
              .at = now,
              .until = now + Ledger::kPassLifetime};
    for (std::size_t node = 0; node < nodes; ++node) {
      pass.node_hashes.push_back(Ledger::node_hash(name + "/" + std::to_string(node)));
    }
    ledger.attempted(std::move(pass));
  }
}

std::size_t named_nodes(const Ledger& ledger, base::TimePoint now) {
  std::size_t named = 0;
  for (const PassPtr& pass : ledger.passes(now)) {
    named += pass->node_hashes.size();
  }
  return named;
}

// A caller may make up names of nodes without end.
TEST(Attempts, ThatNameTooManyNodesMayLandAnywhere) {
  Ledger ledger;
  attempt_made_up(ledger, 0, 10, 20'000, at(0));
  EXPECT_LE(named_nodes(ledger, at(0)), Ledger::kDifferentNodes);
  EXPECT_EQ(ledger.passes(at(0)).size(), 10U);
  EXPECT_THAT(ledger.in_doubt("n", at(0)), ::testing::Contains("made-up-9"));
  EXPECT_THAT(ledger.in_doubt("n", at(0)), ::testing::Not(::testing::Contains("made-up-0")));
  // As soon as they are over, others have the room.
  attempt_made_up(ledger, 10, 6, 20'000, at(10));
  EXPECT_EQ(named_nodes(ledger, at(10)), 6U * 20'000);
}

// All of one group, and always the same nodes: only the names themselves take room.
TEST(Attempts, ThatNameTheSameNodesTooOftenMayLandAnywhere) {
  Ledger ledger;
  std::vector<std::uint64_t> nodes;
  for (std::size_t node = 0; node < 60'000; ++node) {
    nodes.push_back(Ledger::node_hash("n" + std::to_string(node)));
  }
  for (std::size_t pod = 0; pod < 100; ++pod) {
    Pass pass{.pod_uid = "p" + std::to_string(pod),
              .group = scheduling::GroupId("g/"),
              .at = at(0),
              .until = at(10)};
    pass.node_hashes = nodes;
    ledger.attempted(std::move(pass));
  }
  EXPECT_LE(named_nodes(ledger, at(0)), Ledger::kNamedNodes);
  EXPECT_GT(named_nodes(ledger, at(0)), Ledger::kNamedNodes / 2);
  EXPECT_EQ(ledger.passes(at(0)).size(), 100U);
}

TEST(Attempts, OfManyGroupsShareTheirCounters) {
  Ledger ledger;
  // Each group's counters reach to its last node.
  attempt_made_up(ledger, 0, 1, 100'000, at(0));
  attempt_made_up(ledger, 1, 1'000, 1, at(0));
  std::size_t detailed = 0;
  for (const PassPtr& pass : ledger.passes(at(0))) {
    detailed += pass->everywhere ? 0 : 1;
  }
  EXPECT_LE(detailed * 100'000, Ledger::kNodeCounters + 200'000);
  EXPECT_GT(detailed, 100U);
}

TEST(Attempts, OfAUsualClusterAllNameTheirNodes) {
  Ledger ledger;
  for (std::size_t pod = 0; pod < 2'000; ++pod) {
    Pass pass{.pod_uid = "p" + std::to_string(pod),
              .group = scheduling::GroupId("g" + std::to_string(pod % 100) + "/"),
              .at = at(0),
              .until = at(10)};
    for (std::size_t node = 0; node < 500; ++node) {
      pass.node_hashes.push_back(
          Ledger::node_hash("n" + std::to_string((pod * 37 + node) % 5'000)));
    }
    ledger.attempted(std::move(pass));
  }
  EXPECT_EQ(named_nodes(ledger, at(0)), 2'000U * 500);
}

Pass unseen_pass_of(const model::Pod& pod, const std::string& node, std::int64_t seconds) {
  Pass pass = pass_of(pod, {node}, seconds);
  pass.unseen = Pass::Unseen{.pod = model::key_of(pod.meta), .until = at(seconds + 600)};
  return pass;
}

// However many pods a caller makes up: those that the watch showed keep their attempts.
TEST(Attempts, OfUnseenPodsAreBoundedByThemselves) {
  Ledger ledger;
  const auto seen = PodBuilder("seen").value();
  ledger.attempted(pass_of(seen, {"n1"}, 0));
  for (std::size_t i = 0; i < 10 * Ledger::kMostUnseen; ++i) {
    const auto pod = PodBuilder("p" + std::to_string(100'000 + i)).value();
    ledger.attempt(pod.meta.uid, at(1), false);
    ledger.attempted(unseen_pass_of(pod, "n2", 1));
  }
  EXPECT_EQ(ledger.passes(at(1)).size(), Ledger::kMostUnseen + 1);
  EXPECT_THAT(ledger.in_doubt("n1", at(1)), ElementsAre("uid-seen"));
  EXPECT_THAT(ledger.in_doubt("n3", at(1)), IsEmpty());
}

TEST(Attempts, OfUnseenPodsLeaveThoseOfSeenOnesAlone) {
  Ledger ledger;
  const auto pod = PodBuilder("p").value();
  ledger.attempted(pass_of(pod, {"n1"}, 0));
  ledger.attempt(pod.meta.uid, at(1), false);
  EXPECT_THAT(ledger.in_doubt("any", at(1)), IsEmpty());
  ledger.attempted(unseen_pass_of(pod, "n2", 1));
  Pass refused = unseen_pass_of(pod, "n2", 1);
  refused.node_hashes.clear();
  ledger.attempted(refused);
  EXPECT_THAT(ledger.in_doubt("n1", at(1)), ElementsAre("uid-p"));
  EXPECT_THAT(ledger.in_doubt("n2", at(1)), IsEmpty());
}

}  // namespace
}  // namespace millwright::cluster
