// Room and demand between a pod and its successor, and of pods that will never come.
#include "millwright/cluster/state.hpp"
#include "unit/cluster/objects.hpp"
#include "unit/cluster/state_kit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::cluster {
namespace {

using scheduling::GroupDemand;
using testing::at;
using testing::ClaimBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::kept;
using testing::NodeBuilder;
using testing::PodBuilder;
using testing::web;

std::shared_ptr<const model::Workload> workload(const std::string& kind, std::int32_t pods,
                                                const std::string& version = "",
                                                bool at_once = true) {
  model::Workload out{.kind = kind, .meta = {}, .pods = pods, .at_once = at_once};
  out.meta.name = "web";
  out.meta.namespace_ = "default";
  out.meta.uid = "web";
  out.meta.resource_version = version;
  return std::make_shared<const model::Workload>(std::move(out));
}

// A pod of the StatefulSet "web", with a claim of its own.
PodBuilder of_set(const std::string& name) {
  return std::move(
      PodBuilder(name).requests(100).owned_by("web", "StatefulSet").claim("data-" + name));
}

// A synced state with the nodes "old", whose claim is going, and "new".
struct OldAndNew {
  base::TimePoint now = at(0);
  Ledger ledger;
  State state{ledger, [this] { return now; }};

  OldAndNew() {
    state.set_synced(true);
    state.upsert(ClaimBuilder("c").provider("p").build());
    state.upsert(NodeBuilder("old").managed().provider("p").build());
    state.upsert(NodeBuilder("new").build());
    state.mark_for_deletion("c", true);
  }
  void gone(const std::string& pod) {
    state.remove<model::Pod>({"default", pod}, {.uid = "uid-" + pod});
  }
  void reserve_for(const PodBuilder& pod, std::int32_t count = 1) {
    ledger.reserve(testing::reservation_for(pod.value(), "new", 3600, count));
  }
  // Of all groups together: "1 waiting, 2 expected, 0 later"
  std::string demand() {
    std::size_t waiting = 0;
    std::int32_t expected = 0;
    std::int32_t later = 0;
    for (const GroupDemand& each : state.snapshot()->demand) {
      waiting += each.waiting.size();
      expected += each.expected;
      later += each.later;
    }
    return std::to_string(waiting) + " waiting, " + std::to_string(expected) + " expected, " +
           std::to_string(later) + " later";
  }
};

TEST(Successors, APodWithAClaimOfItsOwnFindsTheRoomThatWasKeptForIt) {
  for (const bool at_once : {false, true}) {
    OldAndNew cluster;
    State& state = cluster.state;
    state.upsert(workload("StatefulSet", 2, "", at_once));
    state.upsert(of_set("web-0").on("old").build());
    state.upsert(of_set("web-1").created(5).on("new").build());
    cluster.reserve_for(of_set("web-0"));
    EXPECT_THAT(kept(state), ElementsAre("web on new: 1"));
    state.upsert(of_set("web-0").on("old").deleting().build());
    EXPECT_THAT(kept(state), ElementsAre("web on new: 1")) << "while it ends";
    EXPECT_EQ(cluster.demand(), "0 waiting, 0 expected, 1 later");
    cluster.gone("web-0");
    EXPECT_THAT(kept(state), ElementsAre("web on new: 1")) << "until its successor is there";
    state.upsert(of_set("web-0").uid("successor").build());
    EXPECT_THAT(kept(state), ElementsAre("web on new: 1"));
    EXPECT_EQ(cluster.demand(), "1 waiting, 0 expected, 0 later");
    state.upsert(of_set("web-0").uid("successor").on("new").build());
    EXPECT_THAT(kept(state), IsEmpty());
  }
}

TEST(Successors, APodWithAClaimOfItsOwnThatIsWantedNoMoreKeepsNoRoom) {
  OldAndNew cluster;
  State& state = cluster.state;
  state.upsert(workload("StatefulSet", 2));
  state.upsert(of_set("web-0").on("new").build());
  state.upsert(of_set("web-1").on("old").build());
  cluster.reserve_for(of_set("web-1"));
  state.upsert(workload("StatefulSet", 1));
  state.upsert(of_set("web-1").on("old").deleting().build());
  EXPECT_THAT(kept(state), IsEmpty());
}

TEST(Successors, NobodyGuessesWhatAnotherPodWithAClaimOfItsOwnWillBeLike) {
  OldAndNew cluster;
  cluster.state.upsert(of_set("web-0").build());
  cluster.state.upsert(workload("StatefulSet", 5));
  EXPECT_EQ(cluster.demand(), "1 waiting, 0 expected, 0 later");
}

// How many pods it wants nobody knows; one that has the name of a kind we know, but not its group,
// is no exception.
TEST(Successors, OfAControllerOfAnUnknownKindAreWaitedForAMoment) {
  const auto of_job = [](const std::string& name) {
    return std::move(
        PodBuilder(name).requests(100).owned_by("web", "Job", "batch.volcano.sh/v1alpha1"));
  };
  for (const bool comes : {true, false}) {
    OldAndNew cluster;
    State& state = cluster.state;
    state.upsert(of_job("web-1").on("old").build());
    cluster.reserve_for(of_job("web-1"));
    EXPECT_THAT(kept(state), ElementsAre("web on new: 1"));
    state.upsert(of_job("web-1").on("old").deleting().build());
    EXPECT_THAT(kept(state), ElementsAre("web on new: 1"));
    state.upsert(of_job("web-1").on("old").deleting().phase("Succeeded").build());
    cluster.gone("web-1");
    EXPECT_THAT(kept(state), ElementsAre("web on new: 1"));
    cluster.now += std::chrono::seconds(9);
    EXPECT_THAT(kept(state), ElementsAre("web on new: 1"));
    if (comes) {
      state.upsert(of_job("web-2").build());
      EXPECT_EQ(cluster.demand(), "1 waiting, 0 expected, 0 later") << "it stands in for the first";
    }
    cluster.now += std::chrono::seconds(1);
    EXPECT_EQ(kept(state).size(), comes ? 1U : 0U);
  }
}

TEST(Successors, AreNotWaitedForWhenThePodLeftANodeThatStaysOrSucceeded) {
  const auto of_rollout = [](const std::string& name) {
    return std::move(PodBuilder(name).requests(100).owned_by("web", "Rollout"));
  };
  OldAndNew cluster;
  cluster.state.upsert(of_rollout("stayed").on("new").build());
  cluster.state.upsert(of_rollout("done").on("old").build());
  cluster.state.snapshot();
  cluster.gone("stayed");
  cluster.state.upsert(of_rollout("done").on("old").phase("Succeeded").build());
  EXPECT_EQ(cluster.demand(), "0 waiting, 0 expected, 0 later");
}

// The ReplicaSet's event comes after those of the pods that it deletes.
TEST(Successors, AReplicaSetThatIsScaledDownExpectsNobody) {
  OldAndNew cluster;
  State& state = cluster.state;
  state.upsert(workload("ReplicaSet", 3, "10"));
  for (const std::string name : {"web-1", "web-2", "web-3"}) {
    state.upsert(web(name).version(11).build());
  }
  EXPECT_EQ(cluster.demand(), "3 waiting, 0 expected, 0 later");
  cluster.gone("web-1");
  state.upsert(web("web-2").version(21).deleting().build());
  EXPECT_EQ(cluster.demand(), "1 waiting, 0 expected, 2 later");
  state.upsert(workload("ReplicaSet", 3, "15"));
  EXPECT_EQ(cluster.demand(), "1 waiting, 0 expected, 2 later");
  state.upsert(workload("ReplicaSet", 1, "20"));
  EXPECT_EQ(cluster.demand(), "1 waiting, 0 expected, 0 later");
}

TEST(Successors, AWorkloadThatSpeaksAfterItsPodWentIsNews) {
  OldAndNew cluster;
  State& state = cluster.state;
  state.upsert(workload("ReplicaSet", 2, "10"));
  state.upsert(web("web-1").version(11).build());
  state.upsert(web("web-2").version(21).deleting().build());
  EXPECT_EQ(cluster.demand(), "1 waiting, 1 expected, 0 later") << "it was never alive";
  state.upsert(web("web-1").version(22).deleting().build());
  EXPECT_EQ(cluster.demand(), "0 waiting, 1 expected, 1 later");
  int changes = 0;
  state.on_change([&changes](Kind kind, const model::ObjectKey&) {
    changes += kind == Kind::Workload ? 1 : 0;
  });
  state.upsert(workload("ReplicaSet", 2, "23"));
  EXPECT_EQ(cluster.demand(), "0 waiting, 2 expected, 0 later");
  EXPECT_EQ(changes, 1);
}

// Pods that the API server has admitted and the quota that counts them come by different watches.
TEST(Successors, AQuotaLetsThroughNoMoreThanItsPodsLeave) {
  OldAndNew cluster;
  State& state = cluster.state;
  const auto put_quota = [&](std::int64_t pods) {
    model::ResourceQuota quota;
    quota.meta.name = "q";
    quota.meta.namespace_ = "default";
    quota.hard.emplace(model::kPods, model::Quantity::from_units(pods));
    state.upsert(std::make_shared<const model::ResourceQuota>(quota));
  };
  put_quota(5);
  state.upsert(web("web-0").build());
  state.upsert(workload("ReplicaSet", 20));
  EXPECT_EQ(cluster.demand(), "1 waiting, 4 expected, 0 later");
  state.upsert(web("web-1").build());
  state.upsert(web("web-2").build());
  EXPECT_EQ(cluster.demand(), "3 waiting, 2 expected, 0 later");
  put_quota(7);
  EXPECT_EQ(cluster.demand(), "3 waiting, 4 expected, 0 later");
  // Another owner of the namespace gets no more from it than is left.
  state.upsert(PodBuilder("api-1").requests(100).owned_by("api").build());
  model::Workload api = *workload("ReplicaSet", 20);
  api.meta.name = "api";
  api.meta.uid = "api";
  state.upsert(std::make_shared<const model::Workload>(api));
  EXPECT_EQ(cluster.demand(), "4 waiting, 3 expected, 0 later");
}

}  // namespace
}  // namespace millwright::cluster
