// Two replicas: whatever happens to the leader, one writes at a time, each claim has one instance,
// kube-scheduler is led to the leader, and nobody waits for ever.

#include "millwright/kube/informer.hpp"
#include "sandbox/ha/ha_world.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace millwright::test {
namespace {

using testing::IsEmpty;

std::set<std::string> names_of(const std::vector<std::shared_ptr<const model::NodeClaim>>& claims) {
  std::set<std::string> names;
  for (const auto& claim : claims) {
    names.insert(claim->meta.name);
  }
  return names;
}

TEST(HighAvailability, KubeSchedulerTalksToTheLeaderAlone) {
  HaWorld ha;
  ha.apply_pool("Never");
  Replica& first = ha.wait_for_leader();
  Replica& second = ha.other(first);
  ha.deploy("web", 4, "1");
  EXPECT_TRUE(ha.wait([&] { return ha.running("web") == 4; }, minutes(10)));
  EXPECT_GT(ha.answers(first), 0);
  EXPECT_EQ(ha.answers(second), 0);
  first.kill();
  EXPECT_TRUE(ha.wait([&] { return ha.leader() == &second; }, seconds(20)));
  EXPECT_TRUE(ha.wait([&] { return ha.led_to() == &second; }, seconds(1)));
  ha.deploy("more", 4, "1");
  EXPECT_TRUE(ha.wait([&] { return ha.running("more") == 4; }, minutes(10)));
  EXPECT_GT(ha.answers(second), 0);
  EXPECT_THAT(ha.overlaps, IsEmpty());
}

// What is done to the leader, and what is undone a minute later.
struct Blow {
  const char* name;
  void (*strike)(Replica& leader);
  void (*heal)(Replica& leader);
};
const Blow kBlows[] = {
    {"stopped", [](Replica& leader) { leader.pause(); }, [](Replica& leader) { leader.go_on(); }},
    {"cut off", [](Replica& leader) { leader.cut(true); },
     [](Replica& leader) { leader.cut(false); }},
    {"killed", [](Replica& leader) { leader.kill(); }, [](Replica&) {}},
    {"ended", [](Replica& leader) { leader.stop(); }, [](Replica&) {}},
};

class Change : public testing::TestWithParam<std::tuple<int, int>> {};

// A burst comes, and the leader is struck at some moment of buying for it.
TEST_P(Change, InABurstBuysNothingTwiceAndLosesNothing) {
  const auto& [which, tenths] = GetParam();
  const Blow& blow = kBlows[which];
  SCOPED_TRACE(blow.name);
  HaWorld ha(static_cast<std::uint64_t>(tenths) + 1);
  ha.apply_pool("Never");
  Replica& leader = ha.wait_for_leader();
  Replica& heir = ha.other(leader);
  ha.deploy("web", 20, "3");
  ha.loop.run_for(tenths * milliseconds(100));
  blow.strike(leader);
  EXPECT_TRUE(ha.wait([&] { return ha.led_to() == &heir && ha.leader() == &heir; }, seconds(20)));
  ha.loop.run_for(minutes(1));
  blow.heal(leader);
  EXPECT_TRUE(ha.wait([&] { return ha.running("web") == 20; }, minutes(15)));
  ha.loop.run_for(minutes(5));
  EXPECT_EQ(ha.running("web"), 20U);
  EXPECT_EQ(ha.instances(), ha.claims().size());
  EXPECT_THAT(ha.overlaps, IsEmpty());
  for (const auto& replica : ha.replicas) {
    EXPECT_LE(replica->most_terms_at_once(), 1);
    EXPECT_FALSE(replica->stuck());
  }
}

INSTANTIATE_TEST_SUITE_P(Blows, Change,
                         testing::Combine(testing::Range(0, 4),
                                          testing::Values(1, 3, 6, 12, 25, 40, 70)));

// The leader wakes with work that was due in its term.
TEST(HighAvailability, ALeaderThatWasStoppedWritesNothingWhenItWakes) {
  HaWorld ha;
  ha.apply_pool("Never");
  Replica& leader = ha.wait_for_leader();
  ha.deploy("web", 30, "2");
  // In the middle of writing claims and launching them.
  EXPECT_TRUE(ha.wait([&] { return !ha.claims().empty(); }, minutes(1)));
  leader.pause();
  ha.loop.run_for(minutes(1));
  ASSERT_EQ(ha.leader(), &ha.other(leader));
  const auto woke = ha.loop.now();
  leader.go_on();
  ha.loop.run_for(seconds(1));
  for (const auto& write : ha.writes) {
    EXPECT_TRUE(write.replica != leader.name() || write.time < woke) << write.what;
  }
  EXPECT_THAT(ha.overlaps, IsEmpty());
}

// The Lease is lost and nobody else takes it: the same process leads again.
TEST(HighAvailability, TheTermsOfOneReplicaDoNotOverlap) {
  HaWorld ha;
  ha.apply_pool("0s");
  Replica& leader = ha.wait_for_leader();
  ha.other(leader).kill();
  ha.deploy("web", 10, "2");
  ha.loop.run_for(milliseconds(300));
  for (int time = 0; time < 3; ++time) {
    leader.cut(true);
    EXPECT_TRUE(ha.wait([&] { return !leader.leadership().holds(); }, seconds(11)));
    leader.cut(false);
    EXPECT_TRUE(ha.wait([&] { return leader.leadership().holds(); }, minutes(2)));
  }
  EXPECT_TRUE(ha.wait([&] { return ha.running("web") == 10; }, minutes(10)));
  EXPECT_EQ(leader.leadership().term(), 4U);
  EXPECT_EQ(leader.most_terms_at_once(), 1);
  EXPECT_FALSE(leader.stuck());
  EXPECT_THAT(ha.overlaps, IsEmpty());
}

// What it sent before the end may still be on its way. Others wait for longer anyway.
TEST(HighAvailability, WhoLostItsTermWaitsBeforeTheNext) {
  HaWorld ha;
  ha.apply_pool("Never");
  Replica& leader = ha.wait_for_leader();
  ha.other(leader).kill();
  leader.cut(true);
  ASSERT_TRUE(ha.wait([&] { return !leader.leadership().holds(); }, seconds(11)));
  leader.cut(false);
  const auto lost = ha.loop.now();
  ASSERT_TRUE(ha.wait([&] { return leader.leadership().holds(); }, minutes(2)));
  EXPECT_GE(ha.loop.now() - lost, seconds(5));
}

// Its watches go on where they ended, and nothing has happened: it need not wait for a bookmark of
// each, which comes a minute later, to be the one that can lead.
TEST(HighAvailability, WhoWasCutOffKnowsTheClusterOnceItsWatchesAreAccepted) {
  HaWorld ha;
  ha.apply_pool("Never");
  Replica& follower = ha.other(ha.wait_for_leader());
  const auto knows = [&] { return follower.engine().state().latest()->synced; };
  ha.loop.run_for(minutes(3));
  ASSERT_TRUE(knows());
  follower.cut(true);
  ha.loop.run_for(minutes(2));
  ASSERT_FALSE(knows());
  follower.cut(false);
  const auto longest_pause = kube::InformerOptions{}.max_backoff;
  EXPECT_TRUE(ha.wait(knows, longest_pause + seconds(5)));
}

// It has the Lease back before its watches go on, and what it knows is less than a minute old.
TEST(HighAvailability, WhoLeadsAgainLearnsFirstWhatItDidNotHear) {
  HaWorld ha;
  ha.apply_pool("Never");
  Replica& leader = ha.wait_for_leader();
  ha.other(leader).kill();
  const auto waiting = [&] { return leader.engine().state().latest()->pending_pods.size(); };
  ha.deploy("web", 10, "2");
  ASSERT_TRUE(ha.wait([&] { return waiting() == 10; }, seconds(5)));
  leader.cut(true);
  ha.scale("web", 0);
  ha.loop.run_for(seconds(45));
  ASSERT_FALSE(leader.leadership().holds());
  ASSERT_EQ(waiting(), 10U);
  leader.cut(false);
  EXPECT_TRUE(ha.wait([&] { return leader.leadership().holds(); }, minutes(1)));
  ha.loop.run_for(minutes(2));
  EXPECT_EQ(waiting(), 0U);
  EXPECT_TRUE(ha.world->recorder().claims().empty());
}

// What kube-scheduler was about to do when the leader changed, the new one cannot know.
TEST(HighAvailability, ANewLeaderRemovesNothingBeforeEarlierAttemptsHaveEnded) {
  HaWorld ha;
  ha.apply_pool("0s");
  Replica& leader = ha.wait_for_leader();
  Replica& heir = ha.other(leader);
  ha.deploy("web", 6, "2");
  EXPECT_TRUE(ha.wait([&] { return ha.running("web") == 6; }, minutes(10)));
  ha.loop.run_for(minutes(3));
  const auto before = names_of(ha.claims());
  ASSERT_FALSE(before.empty());
  leader.kill();
  ha.scale("web", 0);  // every node is empty when the next one begins
  EXPECT_TRUE(ha.wait([&] { return ha.led_to() == &heir; }, seconds(20)));
  EXPECT_TRUE(ha.wait(
      [&] {
        const auto now = ha.claims();
        return std::any_of(now.begin(), now.end(),
                           [](const auto& claim) { return claim->meta.is_deleting(); }) ||
               now.size() < before.size();
      },
      minutes(5)));
  EXPECT_GE(ha.loop.now() - heir.began(), seconds(15));
  EXPECT_THAT(ha.overlaps, IsEmpty());
}

// kube-scheduler does not try a refused pod again by itself, and only the last leader knew whom it
// had refused. This pod fits nowhere: whoever is woken needlessly is woken once.
TEST(HighAvailability, WhomTheLastLeaderMayHaveRefusedTheNextWakesOnce) {
  HaWorld ha;
  ha.apply_pool("Never");
  Replica& leader = ha.wait_for_leader();
  Replica& heir = ha.other(leader);
  ha.deploy("huge", 1, "5000");
  ha.loop.run_for(minutes(3));
  const auto kick = [&] {
    std::string stamp;
    for (const auto& [uid, record] : ha.world->recorder().pods()) {
      stamp += record.last->meta.annotation(model::kKickAnnotation);
    }
    return stamp;
  };
  EXPECT_EQ(kick(), "");
  leader.kill();
  EXPECT_TRUE(ha.wait([&] { return ha.led_to() == &heir; }, seconds(20)));
  EXPECT_TRUE(ha.wait([&] { return !kick().empty(); }, seconds(70)));
  const std::string first = kick();
  ha.loop.run_for(minutes(10));
  EXPECT_EQ(kick(), first);
}

// The API server does not answer in time, and does later what it was asked: when nobody waits for
// it any more.
TEST(LostReplies, AClaimThatIsMadeLateIsBoughtOnce) {
  for (const auto delay : {milliseconds(100), milliseconds(700), milliseconds(3'000)}) {
    HaWorld ha;
    ha.apply_pool("Never");
    Replica& leader = ha.wait_for_leader();
    int lost = 0;
    leader.wire().late = [&](const kube::ApiRequest& request) -> base::Duration {
      const bool first = request.method == "POST" &&
                         request.path.find("/nodeclaims") != std::string::npos && lost++ == 0;
      return first ? delay : milliseconds(0);
    };
    ha.deploy("web", 2, "2");
    EXPECT_TRUE(ha.wait([&] { return ha.running("web") == 2; }, minutes(5))) << delay.count();
    ha.loop.run_for(minutes(1));
    EXPECT_GE(lost, 1);
    std::set<std::string> made;
    for (const auto& [uid, record] : ha.world->recorder().claims()) {
      made.insert(record.last->meta.name);
    }
    EXPECT_EQ(made.size(), 1U) << delay.count();
    EXPECT_EQ(ha.instances(), 1U) << delay.count();
  }
}

// Ended in good order, the Lease is given up: nobody waits for it to run out.
TEST(HighAvailability, ALeaderThatEndsHandsOverWithinSeconds) {
  HaWorld ha;
  ha.apply_pool("Never");
  Replica& leader = ha.wait_for_leader();
  Replica& heir = ha.other(leader);
  leader.stop();
  EXPECT_TRUE(ha.wait([&] { return ha.led_to() == &heir; }, seconds(8)));
  EXPECT_EQ(ha.leader(), &heir);
}

}  // namespace
}  // namespace millwright::test
