#include "millwright/kube/leader_election.hpp"

#include "fake_store.hpp"
#include "fake_transport.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

namespace millwright::kube::test {
namespace {

using base::ErrorKind;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kLease =
    "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/karpenter-leader-election";

LeaderElectionOptions options_of(const std::string& identity) {
  LeaderElectionOptions options;
  options.identity = identity;
  return options;
}

// How the work of a candidate's terms ends: `last_steps` after it is told to. Never, if that is
// long enough.
struct Work {
  base::Duration last_steps{};
  int running = 0;
  int most_at_once = 0;
};

base::Task<void> work(base::Loop& loop, Work& how, std::stop_token stop) {
  how.most_at_once = std::max(how.most_at_once, ++how.running);
  co_await base::sleep(loop, 10'000h, stop);
  co_await base::sleep(loop, how.last_steps);
  --how.running;
}

// One replica with its own connection to the shared store.
class Candidate {
 public:
  Candidate(base::VirtualLoop& loop, FakeStore& store, const std::string& identity,
            std::vector<std::string>& story)
      : transport(std::make_shared<FakeTransport>(loop)),
        client(loop, transport),
        leadership(loop) {
    transport->answer = [this, &store](const ApiRequest& request) -> base::Result<net::Response> {
      if (cut_off) {
        return base::fail(ErrorKind::Unavailable, "no route to host");
      }
      return store.answer(request);
    };
    LeaderDuties duties;
    duties.lead = [this, identity, &loop, &story](std::stop_token token) {
      leading = token;
      started_at = loop.now();
      story.push_back(identity + " leads");
      EXPECT_TRUE(leadership.holds());
      return work(loop, how, std::move(token));
    };
    duties.on_end = [this, identity, &loop, &story] {
      EXPECT_TRUE(leading.stop_requested());
      stopped_at = loop.now();
      story.push_back(identity + " stops");
    };
    duties.on_rewound = [this] { ++rewound; };
    duties.is_rewound = [this] { return rewound_elsewhere; };
    duties.on_stuck = [identity, &story] { story.push_back(identity + " is stuck"); };
    tasks = std::make_unique<base::TaskGroup>(loop);
    tasks->spawn(run_leader_election(client, options_of(identity), leadership, std::move(duties),
                                     {}, tasks->stop_token()));
  }
  // As if the process died: nothing more is sent, nothing is released.
  void crash() { tasks.reset(); }

  bool cut_off = false;
  int rewound = 0;
  bool rewound_elsewhere = false;
  Work how;
  std::stop_token leading;
  base::TimePoint started_at;
  base::TimePoint stopped_at;
  std::shared_ptr<FakeTransport> transport;
  Client client;
  base::Leadership leadership;
  std::unique_ptr<base::TaskGroup> tasks;
};

class LeaderElectionTest : public testing::Test {
 protected:
  const json::value& spec() { return store.objects.at(kLease).at("spec"); }

  base::VirtualLoop loop{kStart};
  FakeStore store;
  std::vector<std::string> story;
};

TEST_F(LeaderElectionTest, TheFirstCandidateCreatesTheLeaseAndRenewsIt) {
  Candidate a(loop, store, "a", story);
  loop.run_for(500ms);
  EXPECT_THAT(story, ElementsAre("a leads"));
  EXPECT_EQ(spec(), parse(R"({"holderIdentity":"a","leaseDurationSeconds":15,
      "acquireTime":"2026-01-01T00:00:00.001000Z","renewTime":"2026-01-01T00:00:00.001000Z",
      "leaseTransitions":0})"));
  loop.run_for(60s);
  EXPECT_THAT(story, ElementsAre("a leads"));
  EXPECT_EQ(spec().at("acquireTime"), "2026-01-01T00:00:00.001000Z");
  EXPECT_GT(spec().at("renewTime").as_string(), "2026-01-01T00:00:57");
  EXPECT_EQ(spec().at("leaseTransitions"), 0);
  // After the first, renewals are single writes.
  EXPECT_EQ(a.transport->seen.back().request.method, "PUT");
  EXPECT_LE(a.transport->seen.size(), 33U);
}

TEST_F(LeaderElectionTest, AReleasedLeaseIsTakenWithinARetryPeriod) {
  Candidate a(loop, store, "a", story);
  loop.run_for(1s);
  Candidate b(loop, store, "b", story);
  loop.run_for(60s);
  EXPECT_THAT(story, ElementsAre("a leads"));
  a.tasks->request_stop();
  loop.run_for(1s);
  EXPECT_TRUE(a.tasks->empty());
  const auto released_at = a.stopped_at;
  loop.run_for(10s);
  EXPECT_THAT(story, ElementsAre("a leads", "a stops", "b leads"));
  EXPECT_LE(b.started_at - released_at, 4500ms);
  EXPECT_EQ(spec().at("holderIdentity"), "b");
  EXPECT_EQ(spec().at("leaseTransitions"), 1);
}

TEST_F(LeaderElectionTest, ReleasingClearsTheHolder) {
  Candidate a(loop, store, "a", story);
  loop.run_for(5s);
  a.tasks->request_stop();
  loop.run_for(1s);
  EXPECT_EQ(spec().at("holderIdentity"), "");
  EXPECT_EQ(spec().at("leaseDurationSeconds"), 1);
  EXPECT_EQ(spec().at("leaseTransitions"), 0);
}

TEST_F(LeaderElectionTest, ACrashedLeaderIsReplacedWhenItsLeaseRanOut) {
  Candidate a(loop, store, "a", story);
  loop.run_for(1s);
  Candidate b(loop, store, "b", story);
  loop.run_for(30s);
  a.crash();
  const auto crashed_at = loop.now();
  loop.run_for(60s);
  EXPECT_THAT(story, ElementsAre("a leads", "b leads"));
  // Not before the lease's duration since the last renewal, which was up to a retry period ago.
  EXPECT_GE(b.started_at - crashed_at, 13s);
  EXPECT_LE(b.started_at - crashed_at, 17s);
}

// Whenever in the leader's rhythm it happens: a node that is being launched or drained waits no
// longer than the lease and one retry period.
TEST_F(LeaderElectionTest, ACrashedLeaderIsReplacedWithinTheLeaseAndARetryPeriod) {
  for (int tenth = 0; tenth < 20; ++tenth) {
    store.objects.clear();
    story.clear();
    Candidate a(loop, store, "a", story);
    loop.run_for(1s);
    Candidate b(loop, store, "b", story);
    loop.run_for(30s + tenth * 100ms);
    a.crash();
    const auto crashed_at = loop.now();
    loop.run_for(60s);
    ASSERT_THAT(story, ElementsAre("a leads", "b leads")) << tenth;
    EXPECT_GE(b.started_at - crashed_at, 13s) << tenth;
    EXPECT_LE(b.started_at - crashed_at, 17s) << tenth;
  }
}

TEST_F(LeaderElectionTest, ALeaderCutOffStopsBeforeAnotherStarts) {
  Candidate a(loop, store, "a", story);
  loop.run_for(1s);
  Candidate b(loop, store, "b", story);
  loop.run_for(30s);
  a.cut_off = true;
  loop.run_for(60s);
  EXPECT_THAT(story, ElementsAre("a leads", "a stops", "b leads"));
  EXPECT_LT(a.stopped_at, b.started_at);
  a.cut_off = false;
  b.crash();
  loop.run_for(60s);
  EXPECT_THAT(story, ElementsAre("a leads", "a stops", "b leads", "a leads"));
}

TEST_F(LeaderElectionTest, ALeaderWhoseServerHangsStopsInTime) {
  Candidate a(loop, store, "a", story);
  loop.run_for(30s);
  const auto last = a.transport->seen.back().time;
  a.transport->latency = 1h;
  loop.run_for(60s);
  EXPECT_THAT(story, ElementsAre("a leads", "a stops"));
  EXPECT_LE(a.stopped_at - last, 12s);
}

TEST_F(LeaderElectionTest, AShortOutageDoesNotEndLeadership) {
  Candidate a(loop, store, "a", story);
  loop.run_for(30s);
  a.cut_off = true;
  loop.run_for(5s);
  a.cut_off = false;
  loop.run_for(60s);
  EXPECT_THAT(story, ElementsAre("a leads"));
}

TEST_F(LeaderElectionTest, ALeaseTakenByForceEndsLeadershipAtOnce) {
  Candidate a(loop, store, "a", story);
  loop.run_for(30s);
  auto taken = store.objects.at(kLease);
  taken.at("spec").as_object()["holderIdentity"] = "somebody";
  ApiRequest put{.method = "PUT", .path = kLease, .body = json::serialize(taken)};
  ASSERT_EQ(store.answer(put).status, 200);
  const auto taken_at = loop.now();
  loop.run_for(3s);
  EXPECT_THAT(story, ElementsAre("a leads", "a stops"));
  EXPECT_LE(a.stopped_at - taken_at, 2100ms);
}

// "a" leads for half a minute, while "b" waits for it.
class DeletedLease : public LeaderElectionTest {
 protected:
  DeletedLease() {
    loop.run_for(1s);
    waiting.emplace(loop, store, "b", story);
    loop.run_for(30s);
  }

  Candidate a{loop, store, "a", story};
  std::optional<Candidate> waiting;
};

// The leader puts it back. Others wait, whenever in its rhythm they look.
TEST_F(DeletedLease, MakesNoSecondLeader) {
  for (int tenth = 0; tenth < 20; ++tenth) {
    loop.run_for(10s + tenth * 100ms);
    store.objects.erase(kLease);
    loop.run_for(5s);
    ASSERT_TRUE(store.objects.contains(kLease)) << tenth;
    EXPECT_EQ(spec().at("holderIdentity"), "a") << tenth;
  }
  EXPECT_THAT(story, ElementsAre("a leads"));
}

TEST_F(DeletedLease, WhileItsHolderIsCutOffIsTakenOnceItHasRunOut) {
  a.cut_off = true;
  store.objects.erase(kLease);
  loop.run_for(60s);
  EXPECT_THAT(story, ElementsAre("a leads", "a stops", "b leads"));
  EXPECT_LT(a.stopped_at, waiting->started_at);
}

// What a candidate knows of the lease may be old when it sees that there is none.
TEST_F(DeletedLease, WhileACandidateIsCutOffMakesNoSecondLeader) {
  waiting->cut_off = true;
  loop.run_for(20s);
  store.objects.erase(kLease);
  a.cut_off = true;
  waiting->cut_off = false;
  loop.run_until([&] { return waiting->leadership.holds() || !a.leadership.holds(); }, 1min);
  EXPECT_FALSE(waiting->leadership.holds());
  loop.run_for(20s);
  EXPECT_THAT(story, ElementsAre("a leads", "a stops", "b leads"));
}

// Another one may have led since, and be cut off.
TEST_F(DeletedLease, IsNotPutBackAtOnceByALeaderOfOld) {
  a.cut_off = true;
  loop.run_for(60s);
  ASSERT_THAT(story, ElementsAre("a leads", "a stops", "b leads"));
  store.objects.erase(kLease);
  waiting->cut_off = true;
  a.cut_off = false;
  loop.run_until([&] { return a.leadership.holds() || !waiting->leadership.holds(); }, 1min);
  EXPECT_FALSE(a.leadership.holds());
  loop.run_for(20s);
  EXPECT_THAT(story, ElementsAre("a leads", "a stops", "b leads", "b stops", "a leads"));
}

// A watch may go on from a version that the restored history reaches a minute later, and then
// nothing shows that there were two.
TEST_F(LeaderElectionTest, EtcdRestoredFromABackupIsSeenByItsLease) {
  Candidate a(loop, store, "a", story);
  Candidate b(loop, store, "b", story);
  loop.run_for(10s);
  const auto backup = store.objects;
  loop.run_for(30s);
  EXPECT_EQ(a.rewound + b.rewound, 0);
  store.objects = backup;
  loop.run_for(3s);
  EXPECT_GT(a.rewound, 0);
  EXPECT_GT(b.rewound, 0);
  // Until they are started anew, nobody leads who knows what never was.
  loop.run_for(60s);
  EXPECT_THAT(story, ElementsAre("a leads", "a stops"));
  Candidate c(loop, store, "c", story);
  loop.run_for(20s);
  EXPECT_THAT(story, ElementsAre("a leads", "a stops", "c leads"));
}

// It was cut off while the first one saw it and ended. The store goes on with versions above those
// of the lost history, so that a lease which is written now looks newer than the one it knows.
TEST_F(LeaderElectionTest, WhoLooksLateStillSeesThatEtcdWasRestored) {
  Candidate a(loop, store, "a", story);
  loop.run_for(1s);
  Candidate b(loop, store, "b", story);
  loop.run_for(10s);
  const auto backup = store.objects;
  loop.run_for(30s);
  store.objects = backup;
  b.cut_off = true;
  loop.run_for(3s);
  ASSERT_GT(a.rewound, 0);
  a.tasks->request_stop();
  loop.run_for(1s);
  EXPECT_TRUE(a.tasks->empty());
  EXPECT_EQ(store.objects, backup);
  b.cut_off = false;
  loop.run_for(1min);
  EXPECT_GT(b.rewound, 0);
  EXPECT_THAT(story, ElementsAre("a leads", "a stops"));
  EXPECT_EQ(store.objects, backup);
}

TEST_F(LeaderElectionTest, ALeaseThatIsOlderWhenItIsToBeGivenUpIsLeftAlone) {
  Candidate a(loop, store, "a", story);
  loop.run_for(10s);
  const auto backup = store.objects;
  loop.run_for(30s);
  store.objects = backup;
  a.tasks->request_stop();
  loop.run_for(1s);
  EXPECT_TRUE(a.tasks->empty());
  EXPECT_EQ(a.rewound, 1);
  EXPECT_EQ(store.objects, backup);
}

TEST_F(LeaderElectionTest, TheLeaseIsLeftAloneOnceARestoreWasSeenElsewhere) {
  Candidate a(loop, store, "a", story);
  loop.run_for(1s);
  Candidate b(loop, store, "b", story);
  loop.run_for(10s);
  a.rewound_elsewhere = b.rewound_elsewhere = true;
  const auto lease = spec();
  loop.run_for(5s);
  a.tasks->request_stop();
  loop.run_for(1min);
  EXPECT_TRUE(a.tasks->empty());
  EXPECT_THAT(story, ElementsAre("a leads", "a stops"));
  EXPECT_EQ(spec(), lease);
}

TEST_F(LeaderElectionTest, ClocksOfOthersDoNotMatter) {
  // A holder whose clock is a year ahead, long dead: its lease runs out by our clock.
  store.objects[kLease] = parse(R"({"metadata":{"name":"karpenter-leader-election",
      "namespace":"kube-system","resourceVersion":"0","labels":{"kept":"yes"}},
      "spec":{"holderIdentity":"old","leaseDurationSeconds":15,
      "renewTime":"2027-01-01T00:00:00.000000Z","leaseTransitions":7}})");
  Candidate a(loop, store, "a", story);
  loop.run_for(14s);
  EXPECT_TRUE(story.empty());
  loop.run_for(6s);
  EXPECT_THAT(story, ElementsAre("a leads"));
  EXPECT_EQ(spec().at("leaseTransitions"), 8);
  EXPECT_EQ(store.objects.at(kLease).at("metadata").at("labels").at("kept"), "yes");
}

TEST_F(LeaderElectionTest, AMalformedLeaseIsTakenOver) {
  store.objects[kLease] = parse(R"({"metadata":{"name":"karpenter-leader-election",
      "namespace":"kube-system","resourceVersion":"0"},"spec":"nothing"})");
  Candidate a(loop, store, "a", story);
  loop.run_for(1s);
  EXPECT_THAT(story, ElementsAre("a leads"));
  EXPECT_EQ(spec().at("holderIdentity"), "a");
}

TEST_F(LeaderElectionTest, TheLeaseIsKeptUntilTheWorkHasEnded) {
  Candidate a(loop, store, "a", story);
  a.how.last_steps = 5s;
  loop.run_for(10s);
  a.tasks->request_stop();
  loop.run_for(4s);
  EXPECT_EQ(spec().at("holderIdentity"), "a");
  EXPECT_TRUE(a.leadership.holds());  // what is being finished may be written
  loop.run_for(2s);
  EXPECT_EQ(a.how.running, 0);
  EXPECT_EQ(spec().at("holderIdentity"), "");
  EXPECT_FALSE(a.leadership.holds());
}

// The API server does not answer for a while, and the work of the lost term takes its time.
TEST_F(LeaderElectionTest, TermsOfOneReplicaNeverOverlap) {
  for (const auto last_steps : {0s, 5s, 20s, 29s}) {
    store.objects.clear();
    story.clear();
    Candidate a(loop, store, "a", story);
    a.how.last_steps = last_steps;
    loop.run_for(30s);
    a.cut_off = true;
    loop.run_for(12s);
    ASSERT_THAT(story, ElementsAre("a leads", "a stops")) << last_steps.count();
    const auto lost_at = a.stopped_at;
    a.cut_off = false;
    loop.run_for(60s);
    EXPECT_THAT(story, ElementsAre("a leads", "a stops", "a leads")) << last_steps.count();
    EXPECT_EQ(a.how.most_at_once, 1) << last_steps.count();
    EXPECT_GE(a.started_at, lost_at + last_steps);
    EXPECT_EQ(a.leadership.term(), 2U);
    EXPECT_TRUE(a.leadership.holds());
  }
}

TEST_F(LeaderElectionTest, WorkThatDoesNotEndWithItsTermEndsTheProcess) {
  Candidate a(loop, store, "a", story);
  Candidate b(loop, store, "b", story);
  a.how.last_steps = b.how.last_steps = 31s;
  loop.run_for(30s);
  ASSERT_EQ(story.size(), 1U);
  Candidate& leader = a.leadership.holds() ? a : b;
  const std::string name = &leader == &a ? "a" : "b";
  const std::string other = &leader == &a ? "b" : "a";
  leader.cut_off = true;
  loop.run_for(29s);
  EXPECT_THAT(story, ElementsAre(name + " leads", name + " stops", other + " leads"));
  loop.run_for(15s);
  EXPECT_THAT(story,
              ElementsAre(name + " leads", name + " stops", other + " leads", name + " is stuck"));
  EXPECT_TRUE(leader.tasks->empty());  // it takes no further part
}

TEST_F(LeaderElectionTest, ATermHoldsUntilTheRenewDeadlineAfterTheLastRenewal) {
  Candidate a(loop, store, "a", story);
  loop.run_for(30s);
  a.cut_off = true;
  const auto cut_at = loop.now();
  loop.run_until([&] { return !a.leadership.holds(); }, 1min);
  loop.run_for(1ms);
  // The last renewal was up to a retry period ago.
  EXPECT_GE(loop.now() - cut_at, 8s - 5ms);
  EXPECT_LE(loop.now() - cut_at, 10s + 1ms);
  EXPECT_TRUE(a.leadership.over().stop_requested());
}

TEST_F(LeaderElectionTest, NoTwoReplicasMayWriteAtOnce) {
  for (int tenth = 0; tenth < 20; ++tenth) {
    store.objects.clear();
    story.clear();
    Candidate a(loop, store, "a", story);
    loop.run_for(1s);
    Candidate b(loop, store, "b", story);
    loop.run_for(30s + tenth * 100ms);
    a.cut_off = true;
    loop.run_until([&] { return !a.leadership.holds(); }, 1min);
    const auto over_at = loop.now();
    EXPECT_FALSE(b.leadership.holds()) << tenth;
    loop.run_until([&] { return b.leadership.holds(); }, 1min);
    // lease_duration less renew_deadline: for what was sent before the end.
    EXPECT_GE(loop.now() - over_at, 5s) << tenth;
    EXPECT_FALSE(a.leadership.holds()) << tenth;
  }
}

TEST(LeaderElectionOptions, AreChecked) {
  auto options = options_of("a");
  EXPECT_TRUE(check(options));
  options.identity.clear();
  EXPECT_THAT(check(options).error().message, HasSubstr("identity"));
  options = options_of("a");
  options.renew_deadline = 15s;
  EXPECT_THAT(check(options).error().message, HasSubstr("lease duration"));
  options = options_of("a");
  options.retry_period = 9s;
  EXPECT_THAT(check(options).error().message, HasSubstr("renew deadline"));
  options.retry_period = 0s;
  EXPECT_FALSE(check(options));
}

}  // namespace
}  // namespace millwright::kube::test
