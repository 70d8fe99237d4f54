// What callers say and the watch does not: no such call changes the ledger, an attempt in flight,
// or what is bought. The client certificate keeps strangers away; this they could not do anyway.
#include "unit/extender/world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace millwright::extender {
namespace {

using testing::at;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::names_request;
using testing::passing;
using testing::PodBuilder;
using testing::preempt_request;
using testing::refusals;
using testing::World;

// Node "n" keeps room for "planned", node "closed" is fenced. Pod "waiting" waits, pod "coming" is
// being bound to "n", pod "gated" is gated.
struct BusyWorld : World {
  BusyWorld() {
    add_young_node("n", 4000, 0);
    add_young_node("closed", 4000, 0);
    keep(PodBuilder("planned").requests(800), "n", 60);
    state.upsert(waiting().build());
    state.upsert(coming().build());
    state.upsert(gated().build());
    extender().filter(names_request(coming().value(), {"n"}));
    ledger.fence({"closed", "Empty", at(0)});
    state.snapshot();
  }
  static PodBuilder waiting() { return std::move(PodBuilder("waiting").requests(100)); }
  static PodBuilder coming() { return std::move(PodBuilder("coming").requests(100)); }
  static PodBuilder gated() {
    return std::move(PodBuilder("gated").requests(100).version(7).gated());
  }

  // Every attempt, and what is bought or freed next.
  std::string notes() const {
    std::string text = "ledger " + std::to_string(ledger.view()->generation);
    for (const auto& pass : ledger.passes(now)) {
      text += "; " + pass->pod_uid + (pass->everywhere ? " everywhere" : "");
      for (const std::uint64_t hash : pass->node_hashes) {
        text += " " + std::to_string(hash);
      }
    }
    // Of others nothing is believed before the loop has compared them.
    const auto believed = std::count_if(refused.begin(), refused.end(), [](const auto& each) {
      return each.pod.shown == Shown::Waiting;
    });
    return text + "; refused " + std::to_string(believed) + ", spared " +
           std::to_string(spared.size());
  }
};

struct ForgedCall {
  const char* what;
  model::Pod pod;
  std::vector<std::string> nodes;
};

std::vector<ForgedCall> forged_calls() {
  const auto made_up = [] { return PodBuilder("made-up"); };
  const model::Pod coming = BusyWorld::coming().value();
  const model::Pod gated = BusyWorld::gated().value();
  return {
      {"a made-up DaemonSet's pod, for a closed node",
       made_up().owned_by_daemon_set().value(),
       {"closed"}},
      {"a made-up pod, for a closed node", made_up().value(), {"closed"}},
      {"a made-up pod, for made-up nodes", made_up().value(), {"x", "y"}},
      {"a made-up pod, for no node", made_up().value(), {}},
      {"a waiting pod, for made-up nodes", BusyWorld::waiting().value(), {"x", "y"}},
      {"a waiting pod, for a claim's name", BusyWorld::waiting().value(), {"claim-n"}},
      {"a pod being bound, for no node", coming, {}},
      {"a pod being bound, for a made-up node", coming, {"x"}},
      {"the uid of a pod being bound under another name, for its node",
       made_up().uid(coming.meta.uid).value(),
       {"n"}},
      {"the uid of a pod being bound under another name, for a closed node",
       made_up().uid(coming.meta.uid).value(),
       {"closed"}},
      {"a gated pod, for a closed node", gated, {"closed"}},
      {"a gated pod, for an open node", gated, {"n"}},
      {"a gated pod as it was before, for an open node",
       BusyWorld::gated().version(6).value(),
       {"n"}},
  };
}

TEST(ForgedCalls, ChangeNeitherTheLedgerNorAttemptsNorWhatIsBought) {
  for (const ForgedCall& call : forged_calls()) {
    BusyWorld world;
    const auto extender = world.extender();
    const std::string before = world.notes();
    const std::string body = names_request(call.pod, call.nodes);
    EXPECT_EQ(extender.filter(body).status, 200) << call.what;
    EXPECT_EQ(extender.prioritize(body).status, 200) << call.what;
    EXPECT_EQ(extender.preempt(preempt_request(call.pod, R"({"n":{"Pods":[]}})")).status, 200)
        << call.what;
    EXPECT_EQ(world.notes(), before) << call.what;
    EXPECT_THAT(world.ledger.in_doubt("closed", world.now), IsEmpty()) << call.what;
  }
}

TEST(ForgedCalls, AWaitingPodIsWhatTheWatchShows) {
  BusyWorld world;
  const auto extender = world.extender();
  const auto as_daemon = BusyWorld::waiting().owned_by_daemon_set().value();
  EXPECT_EQ(refusals(extender.filter(names_request(as_daemon, {"closed"}))).size(), 1U);
  const auto as_giant = BusyWorld::waiting().requests(4000).value();
  EXPECT_THAT(passing(extender.filter(names_request(as_giant, {"n"}))), ElementsAre("n"));
  EXPECT_EQ(world.ledger.pass_of("uid-waiting")->requests,
            scheduling::effective_requests(BusyWorld::waiting().value()));
}

// kube-scheduler hears of new pods a moment before us. Its attempt counts, for ten seconds.
TEST(ForgedCalls, APodThatTheWatchDoesNotShowYetHasABoundedAttempt) {
  BusyWorld world;
  const auto extender = world.extender();
  const auto fresh = PodBuilder("fresh").claim("slow").value();
  EXPECT_THAT(passing(extender.filter(names_request(fresh, {"n"}))), ElementsAre("n"));
  EXPECT_THAT(world.ledger.in_doubt("n", at(9)), ElementsAre("uid-coming", "uid-fresh"));
  EXPECT_THAT(world.ledger.in_doubt("n", at(10)), IsEmpty());
  world.state.upsert(std::make_shared<const model::Pod>(fresh));
  world.state.snapshot();
  EXPECT_THAT(world.ledger.in_doubt("n", at(599)), ElementsAre("uid-fresh")) << "as it was asked";
}

TEST(ForgedCalls, APodWhoseGatesTheCallerKnowsToBeGoneHasABoundedAttempt) {
  BusyWorld world;
  const auto extender = world.extender();
  const auto ungated = PodBuilder("gated").requests(100).version(8).value();
  EXPECT_THAT(passing(extender.filter(names_request(ungated, {"n"}))), ElementsAre("n"));
  EXPECT_THAT(world.ledger.in_doubt("n", at(9)), ElementsAre("uid-coming", "uid-gated"));
}

TEST(ForgedCalls, ADaemonSetsPodIsNotWaitedForOnAClosedNode) {
  BusyWorld world;
  const auto extender = world.extender();
  const auto agent = PodBuilder("agent").owned_by_daemon_set();
  world.state.upsert(agent.build());
  world.state.snapshot();
  EXPECT_THAT(passing(extender.filter(names_request(agent.value(), {"closed", "n"}))),
              ElementsAre("closed", "n"));
  EXPECT_THAT(world.ledger.in_doubt("closed", world.now), IsEmpty());
  EXPECT_THAT(world.ledger.in_doubt("n", world.now), ElementsAre("uid-agent", "uid-coming"));
}

TEST(ForgedCalls, OnlyWhatFilterLetThroughIsBound) {
  BusyWorld world;
  const auto says = [&](const std::string& pod, const std::string& uid, const std::string& node,
                        std::int64_t seconds) {
    const auto checked = check_binding({{"default", pod}, uid, node}, *world.state.latest(),
                                       world.ledger, at(seconds));
    return checked ? std::string() : checked.error().message;
  };
  EXPECT_EQ(says("coming", "uid-coming", "n", 9), "");
  EXPECT_EQ(says("coming", "uid-coming", "n", 10),
            "bind request: filter did not let pod default/coming through to node n");
  EXPECT_NE(says("coming", "uid-coming", "closed", 1), "");
  EXPECT_NE(says("waiting", "uid-waiting", "n", 1), "");
  EXPECT_EQ(says("waiting", "uid-coming", "n", 1),
            "bind request: no pod default/waiting with uid uid-coming waits for a node");
  EXPECT_NE(says("gated", "uid-gated", "n", 1), "");
  EXPECT_NE(says("made-up", "uid-made-up", "n", 1), "");
}

}  // namespace
}  // namespace millwright::extender
