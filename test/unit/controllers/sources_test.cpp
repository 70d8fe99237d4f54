// Snapshots count only while every watch that matters is heard of.
#include "millwright/controllers/process/sources.hpp"

#include "millwright/base/loop.hpp"

#include <gtest/gtest.h>

namespace millwright::controllers {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class SourcesTest : public ::testing::Test {
 protected:
  bool synced() {
    sources.look();
    return state.latest()->synced;
  }
  void both_listed() {
    sources.listed(pods);
    sources.listed(quotas);
    state.snapshot();
  }

  // Sets `begun` once all are heard of.
  void begin() {
    begun = false;
    group.spawn(wait());
  }
  base::Task<void> wait() {
    co_await sources.wait_for_all(group.stop_token());
    begun = true;
  }

  base::VirtualLoop loop{base::TimePoint(std::chrono::hours(1'000))};
  cluster::Ledger ledger;
  cluster::State state{ledger};
  Sources sources{loop, state, {}};
  std::size_t pods = sources.add("pods");
  std::size_t quotas = sources.add("resourcequotas");
  bool begun = false;
  base::TaskGroup group{loop};
};

TEST_F(SourcesTest, AllAreWaitedFor) {
  sources.listed(pods);
  EXPECT_FALSE(state.snapshot()->synced);
  sources.done_without(quotas);
  EXPECT_TRUE(state.snapshot()->synced);
}

TEST_F(SourcesTest, OneThatIsLostIsStaleAfterAMinuteAndFreshOnceHeardOf) {
  both_listed();
  EXPECT_TRUE(synced());
  loop.run_for(seconds(30));
  sources.heard(pods);
  sources.lost(pods);
  loop.run_for(seconds(59));
  EXPECT_TRUE(synced());
  loop.run_for(seconds(1));
  EXPECT_FALSE(synced());
  sources.heard(pods);
  EXPECT_TRUE(synced());
}

TEST_F(SourcesTest, WorkBeginsOnceNoneThatMattersIsLost) {
  both_listed();
  sources.lost(pods);
  sources.lost(quotas);
  begin();
  loop.run_for(seconds(20));
  sources.heard(pods);
  loop.run_for(seconds(1));
  EXPECT_FALSE(begun);
  sources.heard(quotas);
  loop.run_for(seconds(1));
  EXPECT_TRUE(begun);

  sources.lost(quotas);
  begin();
  loop.run_for(seconds(1));
  EXPECT_FALSE(begun);
  sources.done_without(quotas);
  loop.run_for(seconds(1));
  EXPECT_TRUE(begun);
  begin();
  loop.run_for(seconds(1));
  EXPECT_TRUE(begun) << "it does not matter any more";
}

TEST_F(SourcesTest, WorkDoesNotWaitForOneThatStaysLost) {
  both_listed();
  sources.lost(quotas);
  begin();
  loop.run_for(seconds(59));
  EXPECT_FALSE(begun);
  loop.run_for(seconds(2));
  EXPECT_TRUE(begun);
  EXPECT_FALSE(state.latest()->synced) << "and does nothing until it is heard of";
}

TEST_F(SourcesTest, SilenceAloneIsBorneForLonger) {
  both_listed();
  loop.run_for(minutes(6) - seconds(1));
  sources.heard(pods);
  EXPECT_TRUE(synced());
  loop.run_for(seconds(1));
  EXPECT_FALSE(synced()) << "the quotas are silent";
  sources.done_without(quotas);
  EXPECT_TRUE(synced());
}

TEST_F(SourcesTest, WhatCanBeDoneWithoutMattersOnceItIsThere) {
  sources.listed(pods);
  sources.done_without(quotas);
  state.snapshot();
  loop.run_for(minutes(5));
  sources.heard(pods);
  sources.listed(quotas);
  sources.lost(quotas);
  loop.run_for(minutes(1));
  EXPECT_FALSE(synced());
}

// Quotas may be refused; pods every installation may read.
class RefusedSources : public SourcesTest {
 protected:
  bool synced() {
    sources.look();
    return state.snapshot()->synced;
  }
};

TEST_F(RefusedSources, AreDoneWithoutAtTheStartOnceTheyAloneAreRefused) {
  sources.listed(pods);
  const auto since = sources.refused(quotas);
  ASSERT_TRUE(since.has_value());
  EXPECT_FALSE(synced()) << "everything may be refused now";
  sources.refused_alone(quotas, *since);
  EXPECT_TRUE(synced());
  loop.run_for(minutes(2));
  sources.heard(pods);
  EXPECT_TRUE(synced());
  EXPECT_FALSE(sources.refused(quotas).has_value()) << "nothing is to be found out any more";
}

TEST_F(RefusedSources, AreAwaitedAsLongAsEverythingMayBeRefused) {
  sources.refused(quotas);
  sources.lost(quotas);
  sources.listed(pods);
  sources.refused(quotas);
  EXPECT_FALSE(synced());
  sources.heard(quotas);
  sources.listed(quotas);
  EXPECT_TRUE(synced());
}

TEST_F(RefusedSources, ThatWereReadAreDoneWithoutOnceTheyAloneAreRefusedAgainAndAgain) {
  sources.listed(pods);
  sources.listed(quotas);
  const base::TimePoint first_refusal = loop.now();
  EXPECT_FALSE(sources.refused(quotas).has_value());
  sources.lost(quotas);
  loop.run_for(seconds(9));
  EXPECT_FALSE(sources.refused(quotas).has_value()) << "by one of several API servers, perhaps";
  loop.run_for(seconds(1));
  EXPECT_EQ(sources.refused(quotas), first_refusal);
  loop.run_for(seconds(50));
  EXPECT_FALSE(synced()) << "nobody has said that they alone are";
  sources.refused_alone(quotas, first_refusal);
  EXPECT_TRUE(synced());
}

TEST_F(RefusedSources, ThatAreHeardOfInBetweenAreRefusedAnew) {
  sources.listed(pods);
  sources.listed(quotas);
  sources.refused(quotas);
  loop.run_for(seconds(10));
  sources.heard(quotas);
  EXPECT_FALSE(sources.refused(quotas).has_value());
  loop.run_for(seconds(10));
  EXPECT_TRUE(sources.refused(quotas).has_value());
}

// What was found out of the refusal before says nothing of the one after.
TEST_F(RefusedSources, ThatWereHeardOfMeanwhileMatter) {
  sources.listed(pods);
  sources.listed(quotas);
  sources.refused(quotas);
  loop.run_for(seconds(10));
  const auto since = sources.refused(quotas);
  ASSERT_TRUE(since.has_value());
  sources.heard(quotas);
  sources.refused_alone(quotas, *since);
  loop.run_for(seconds(1));
  sources.refused(quotas);
  sources.lost(quotas);
  sources.refused_alone(quotas, *since);
  loop.run_for(minutes(1));
  sources.heard(pods);
  EXPECT_FALSE(synced());
}

}  // namespace
}  // namespace millwright::controllers
