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
  sources.done_without(quotas);
  begin();
  loop.run_for(seconds(1));
  EXPECT_TRUE(begun);
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

// Pods, which every installation may read, and quotas, which may be refused.
class RefusedSources : public ::testing::Test {
 protected:
  bool synced() {
    sources.look();
    return state.snapshot()->synced;
  }

  base::VirtualLoop loop{base::TimePoint(std::chrono::hours(1'000))};
  cluster::Ledger ledger;
  cluster::State state{ledger};
  Sources sources{loop, state, {}};
  std::size_t pods = sources.add("pods", Sources::Need::Always);
  std::size_t quotas = sources.add("resourcequotas");
};

TEST_F(RefusedSources, AreDoneWithoutAtTheStartOnceAllThatIsNeededIsListed) {
  sources.listed(pods);
  EXPECT_FALSE(synced());
  sources.refused(quotas);
  EXPECT_TRUE(synced());
  loop.run_for(minutes(2));
  sources.heard(pods);
  EXPECT_TRUE(synced());
}

// The pods are a long list, and others that are needed came long before.
TEST_F(RefusedSources, AreDoneWithoutAtTheStartOnceOthersWereLetThrough) {
  sources.refused(quotas);
  sources.permitted(pods);
  sources.refused(quotas);
  sources.listed(pods);
  EXPECT_TRUE(synced());
}

TEST_F(RefusedSources, AreAwaitedWhereEverythingWasRefused) {
  sources.refused(quotas);
  sources.lost(quotas);
  sources.lost(pods);
  sources.refused(quotas);
  sources.permitted(pods);
  sources.heard(pods);
  sources.listed(pods);
  EXPECT_FALSE(synced()) << "nobody has said since that the quotas alone are refused";
  sources.heard(quotas);
  sources.listed(quotas);
  EXPECT_TRUE(synced());
}

TEST_F(RefusedSources, ThatWereReadAreLostWhileEverythingIsRefused) {
  sources.listed(pods);
  sources.listed(quotas);
  EXPECT_TRUE(synced());
  sources.refused(quotas);
  sources.lost(quotas);
  loop.run_for(seconds(59));
  sources.refused(quotas);
  EXPECT_TRUE(synced());
  loop.run_for(seconds(1));
  EXPECT_FALSE(synced()) << "though the watch of the pods, which is still open, goes on";
  sources.permitted(pods);
  sources.heard(pods);
  EXPECT_FALSE(synced()) << "what became of the quotas meanwhile is not known";
  sources.heard(quotas);
  EXPECT_TRUE(synced());
}

TEST_F(RefusedSources, ThatWereReadAreDoneWithoutOnceTheyAloneAreRefused) {
  sources.listed(pods);
  sources.listed(quotas);
  sources.refused(quotas);
  sources.lost(quotas);
  loop.run_for(minutes(1));
  EXPECT_FALSE(synced());
  sources.permitted(pods);
  sources.refused(quotas);
  EXPECT_TRUE(synced());
  sources.heard(quotas);
  sources.refused(quotas);
  sources.lost(quotas);
  loop.run_for(minutes(1));
  sources.heard(pods);
  EXPECT_FALSE(synced()) << "the right was there again, and is refused anew";
}

// As of all kinds of one API group.
TEST_F(RefusedSources, AreAwaitedWhileAnotherIsRefusedThatIsNeeded) {
  const std::size_t pools = sources.add("nodepools", Sources::Need::Always);
  sources.refused(quotas);
  sources.refused(pools);
  sources.permitted(pods);
  sources.listed(pods);
  sources.refused(quotas);
  sources.permitted(pools);
  sources.listed(pools);
  EXPECT_FALSE(synced());
  sources.refused(quotas);
  EXPECT_TRUE(synced());
}

TEST_F(RefusedSources, SayNothingOfOneThatMayBeDoneWithoutItself) {
  sources.refused(quotas);
  sources.permitted(quotas);
  sources.refused(quotas);
  sources.listed(pods);
  EXPECT_FALSE(synced());
}

}  // namespace
}  // namespace millwright::controllers
