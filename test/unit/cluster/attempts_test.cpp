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

TEST(Attempts, AreInDoubtUntilSettledRepeatedOrTooOld) {
  Ledger ledger;
  const auto pass = [&](const std::string& pod, const std::string& node, std::int64_t seconds) {
    ledger.attempted(pass_of(PodBuilder(pod).uid(pod).value(), {node}, seconds));
  };
  pass("p2", "n1", 0);
  pass("p1", "n1", 0);
  EXPECT_THAT(ledger.in_doubt("n1", at(1)), ElementsAre("p1", "p2"));
  EXPECT_THAT(ledger.in_doubt("n3", at(1)), IsEmpty());
  pass("p1", "n3", 2);
  EXPECT_THAT(ledger.in_doubt("n1", at(2)), ElementsAre("p2"));
  EXPECT_THAT(ledger.in_doubt("n3", at(2)), ElementsAre("p1"));
  ledger.end_attempt("p2");
  EXPECT_THAT(ledger.in_doubt("n1", at(2)), IsEmpty());
  EXPECT_THAT(ledger.in_doubt("n3", at(2) + Ledger::kPassLifetime - base::Duration(1)),
              ElementsAre("p1"));
  EXPECT_THAT(ledger.in_doubt("n3", at(2) + Ledger::kPassLifetime), IsEmpty());
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
  EXPECT_THAT(ledger.in_doubt("n1", at(1)), IsEmpty());
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

}  // namespace
}  // namespace millwright::cluster
