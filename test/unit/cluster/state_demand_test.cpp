// What the groups need, worked out from pods and the nodes they are on.
#include "millwright/cluster/state.hpp"
#include "unit/cluster/objects.hpp"
#include "unit/cluster/state_kit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace millwright::cluster {
namespace {

using scheduling::GroupDemand;
using testing::at;
using testing::ClaimBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::NodeBuilder;
using testing::PodBuilder;
using testing::web;

// Nodes "kept", "marked" (its claim is going) and "fenced".
struct Cluster {
  Ledger ledger;
  State state{ledger};

  Cluster() {
    for (const std::string name : {"kept", "marked", "fenced"}) {
      state.upsert(ClaimBuilder("c-" + name).provider("p-" + name).build());
      state.upsert(NodeBuilder(name).managed().provider("p-" + name).build());
    }
    state.mark_for_deletion("c-marked", true);
    ledger.fence({"fenced", "Underutilized", at(0)});
  }
};

// "web: 1 waiting, 2 leaving, 0 later"
std::vector<std::string> demand(State& state) {
  std::vector<std::string> lines;
  for (const GroupDemand& each : state.snapshot()->demand) {
    lines.push_back(std::string(each.group.owner_uid()) + ": " +
                    std::to_string(each.waiting.size()) + " waiting, " +
                    std::to_string(each.leaving.size()) + " leaving, " +
                    std::to_string(each.later) + " later");
    EXPECT_EQ(each.expected, 0);
    EXPECT_NE(each.sample, nullptr);
  }
  return lines;
}

TEST(StateDemand, OfAWorkloadThatIsDeniedPodsKeepsItsReservationsAndIsNotExpected) {
  base::TimePoint now = at(0);
  Ledger ledger;
  State state(ledger, [&now] { return now; });
  state.set_synced(true);
  state.upsert(web("web-1").build());
  model::Workload workload{.kind = "ReplicaSet", .meta = {}, .pods = 3, .at_once = true};
  workload.meta.name = "web";
  workload.meta.namespace_ = "default";
  workload.meta.uid = "web";
  state.upsert(std::make_shared<const model::Workload>(workload));
  state.upsert(NodeBuilder("n").allocatable(4000).build());
  state.snapshot();
  ledger.reserve(testing::room("n", 3, 600));
  now = at(29);
  EXPECT_EQ(state.snapshot()->demand.front().expected, 2);
  now = at(30);
  const auto demand = state.snapshot()->demand;
  EXPECT_EQ(demand.front().expected, 0);
  EXPECT_EQ(demand.front().later, 2);
  EXPECT_THAT(testing::kept(state), ElementsAre("web on n: 3"));
}

TEST(StateDemand, OfOnePod) {
  const std::tuple<const char*, PodBuilder, const char*> cases[] = {
      {"waiting", web("p"), "web: 1 waiting, 0 leaving, 0 later"},
      {"waiting and bare", PodBuilder("p"), "uid-p: 1 waiting, 0 leaving, 0 later"},
      {"waiting and gated", web("p").gated(), nullptr},
      {"waiting and deleted", web("p").deleting(), nullptr},
      {"waiting and a DaemonSet's", PodBuilder("p").owned_by_daemon_set(), nullptr},
      {"done", web("p").phase("Succeeded"), nullptr},
      {"bound", web("p").on("kept"), nullptr},
      {"bound to a node nobody knows", web("p").on("elsewhere"), nullptr},
      {"leaving", web("p").on("marked"), "web: 0 waiting, 1 leaving, 0 later"},
      {"leaving and done", web("p").on("marked").phase("Failed"), nullptr},
      {"leaving and bare", PodBuilder("p").on("marked"), nullptr},
      {"leaving and a DaemonSet's", PodBuilder("p").on("marked").owned_by_daemon_set(), nullptr},
      {"leaving and the node's own", PodBuilder("p").on("marked").owned_by("marked", "Node", "v1"),
       nullptr},
      {"on a fenced node", web("p").on("fenced"), "web: 0 waiting, 0 leaving, 1 later"},
      {"bare on a fenced node", PodBuilder("p").on("fenced"), nullptr},
  };
  for (const auto& [what, pod, expected] : cases) {
    Cluster cluster;
    cluster.state.upsert(pod.build());
    EXPECT_EQ(demand(cluster.state),
              expected == nullptr ? std::vector<std::string>() : std::vector<std::string>{expected})
        << what;
  }
}

// The sums of a namespace wrap around, there and back.
TEST(StateDemand, APodOfAbsurdRequestsComesAndGoes) {
  Cluster cluster;
  const auto pod = PodBuilder("absurd").requests(std::numeric_limits<std::int64_t>::min()).build();
  cluster.state.upsert(pod);
  EXPECT_EQ(cluster.state.snapshot()->pending_pods.size(), 1U);
  cluster.state.remove<model::Pod>(model::key_of(pod->meta));
  EXPECT_THAT(demand(cluster.state), IsEmpty());
}

TEST(StateDemand, AddsUpByGroupInOrder) {
  Cluster cluster;
  State& state = cluster.state;
  state.upsert(web("web-2").build());
  state.upsert(web("web-1").build());
  state.upsert(web("web-3").uid("2").on("marked").build());
  state.upsert(web("web-4").uid("1").on("marked").build());
  state.upsert(web("web-5").on("fenced").build());
  state.upsert(web("large").requests(200).build());
  state.upsert(PodBuilder("a").build());
  const auto snapshot = state.snapshot();
  EXPECT_EQ(snapshot->demand.size(), 3U);
  EXPECT_TRUE(std::is_sorted(snapshot->demand.begin(), snapshot->demand.end(),
                             [](const auto& a, const auto& b) { return a.group < b.group; }));
  const GroupDemand* const found =
      scheduling::find_demand(snapshot->demand, scheduling::group_of(web("any").value()));
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->needed(), 4);
  EXPECT_EQ(found->most_reserved(), 5);
  EXPECT_THAT(found->waiting, ElementsAre(::testing::Pointee(web("web-1").value()),
                                          ::testing::Pointee(web("web-2").value())));
  ASSERT_EQ(found->leaving.size(), 2U);
  EXPECT_EQ(found->leaving[0]->meta.uid, "1");
}

TEST(StateDemand, FollowsThePodsAndTheirNodes) {
  Cluster cluster;
  State& state = cluster.state;
  state.upsert(web("p").gated().build());
  EXPECT_THAT(demand(state), IsEmpty());
  state.upsert(web("p").build());
  EXPECT_THAT(demand(state), ElementsAre("web: 1 waiting, 0 leaving, 0 later"));
  state.upsert(web("p").on("kept").build());
  EXPECT_THAT(demand(state), IsEmpty());
  cluster.ledger.fence({"kept", "Empty", at(0)});
  EXPECT_THAT(demand(state), ElementsAre("web: 0 waiting, 0 leaving, 1 later"));
  state.mark_for_deletion("c-kept", true);
  EXPECT_THAT(demand(state), ElementsAre("web: 0 waiting, 1 leaving, 0 later"));
  cluster.ledger.unfence("kept");
  EXPECT_THAT(demand(state), ElementsAre("web: 0 waiting, 1 leaving, 0 later"));
  state.mark_for_deletion("c-kept", false);
  EXPECT_THAT(demand(state), IsEmpty());
}

// The fingerprint is remembered by pod; neither another spec nor another owner may be missed.
TEST(StateDemand, APodThatChangesMovesToItsNewGroup) {
  Cluster cluster;
  State& state = cluster.state;
  const auto group_seen = [&] { return state.snapshot()->demand.at(0).group; };
  state.upsert(PodBuilder("p").requests(100).build());
  EXPECT_EQ(group_seen(), scheduling::group_of(PodBuilder("p").requests(100).value()));
  state.upsert(PodBuilder("p").requests(200).build());
  EXPECT_EQ(group_seen(), scheduling::group_of(PodBuilder("p").requests(200).value()));
  // A ReplicaSet adopts it.
  state.upsert(PodBuilder("p").requests(200).owned_by("web").build());
  EXPECT_EQ(group_seen(),
            scheduling::group_of(PodBuilder("p").requests(200).owned_by("web").value()));
}

}  // namespace
}  // namespace millwright::cluster
