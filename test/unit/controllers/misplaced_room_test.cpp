// Groups whose room is up, and not where kube-scheduler lets their pods go.
#include "controllers/provisioning/misplaced_room.hpp"

#include "millwright/cluster/state.hpp"
#include "unit/cluster/objects.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::controllers {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::at;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::NodeBuilder;
using testing::PodBuilder;

// A pod of a ReplicaSet that spreads over zones waits. One runs in zone "a", where node "n" keeps
// room for the one that waits; zone "b" has a node too.
class MisplacedRoomOfAGroup : public ::testing::Test {
 protected:
  MisplacedRoomOfAGroup() {
    state_.set_synced(true);
    add_node("n", "a");
    add_node("other", "b");
    state_.upsert(bound("first", "n"));
    report("waiting");
    state_.snapshot();  // the first one has used nothing
    ledger_.reserve(testing::reservation_for(waiting(), "n", 600, 1));
  }

  static model::Pod pod(PodBuilder builder) {
    auto pod = builder.requests(1000).owned_by("owner").value();
    pod.meta.labels = {{"app", "web"}};
    model::TopologySpreadConstraint spread;
    spread.topology_key = model::kZoneLabel;
    spread.when_unsatisfiable = "DoNotSchedule";
    spread.label_selector = model::LabelSelector{.match_labels = pod.meta.labels};
    pod.spec.topology_spread = {spread};
    return pod;
  }
  static model::Pod waiting(const std::string& name = "waiting") { return pod(PodBuilder(name)); }
  static std::shared_ptr<const model::Pod> bound(const std::string& name, const std::string& node) {
    return std::make_shared<const model::Pod>(pod(PodBuilder(name).on(node)));
  }
  void add_node(const std::string& name, const std::string& zone) {
    state_.upsert(
        NodeBuilder(name).ready_since(0).label(model::kZoneLabel, zone).allocatable(4000).build());
  }
  void report(const std::string& name) {
    auto reported = waiting(name);
    reported.status.conditions = {{.type = "PodScheduled",
                                   .status = model::ConditionStatus::False,
                                   .reason = "Unschedulable"}};
    state_.upsert(std::make_shared<const model::Pod>(std::move(reported)));
  }
  // Where room is misplaced.
  std::vector<std::string> look(base::Duration later = seconds(0)) {
    now_ += later;
    const auto found =
        misplaced_.look(state_.snapshot(), *ledger_.view(), ledger_.passes(now_), now_, solve_);
    return found.empty() ? std::vector<std::string>() : found.front().targets;
  }
  static scheduling::GroupId group() { return scheduling::group_of(waiting()); }

  base::TimePoint now_ = at(0);
  cluster::Ledger ledger_;
  cluster::State state_{ledger_};
  MisplacedRoom misplaced_;
  scheduling::SolveOptions solve_;
};

// A pod that asks for a device waits, and node "n" has one and keeps room for the pod. The others'
// room is right.
class MisplacedRoomOfDevices : public MisplacedRoomOfAGroup {
 protected:
  MisplacedRoomOfDevices() {
    state_.upsert(bound("second", "other"));
    model::DeviceClass device_class;
    device_class.meta.name = "gpu";
    add(device_class);
    model::ResourceClaimTemplate claims;
    claims.meta.name = "one-gpu";
    claims.meta.namespace_ = "default";
    claims.spec.requests = {
        {.name = "r", .class_name = "gpu", .selectors = {}, .first_available = {}}};
    add(claims);
    model::ResourceSlice slice{.meta = {},
                               .driver = "gpu.example.com",
                               .pool = "n",
                               .generation = 1,
                               .slices_in_pool = 1,
                               .node_name = "n",
                               .devices = {{.name = "gpu-0", .attributes = {}, .capacity = {}}}};
    slice.meta.name = "n-gpus";
    add(slice);
    auto trainer = PodBuilder("trainer").requests(100).owned_by("training").value();
    trainer.spec.resource_claims = {{.name = "gpu", .claim_name = {}, .template_name = "one-gpu"}};
    trainer.status.conditions = {{.type = "PodScheduled",
                                  .status = model::ConditionStatus::False,
                                  .reason = "Unschedulable"}};
    add(trainer);
    state_.snapshot();
    ledger_.reserve(testing::reservation_for(trainer, "n", 600, 1));
  }
  template <class T>
  void add(const T& object) {
    state_.upsert(std::make_shared<const T>(object));
  }
};

TEST_F(MisplacedRoomOfAGroup, IsToldOfAfterASecondInWhichNothingChanged) {
  EXPECT_THAT(look(), IsEmpty());
  EXPECT_THAT(look(milliseconds(900)), IsEmpty());
  EXPECT_THAT(look(milliseconds(100)), ElementsAre("n"));
}

TEST_F(MisplacedRoomOfAGroup, IsNotToldOfWhileTheGroupStillFindsItsPlaces) {
  report("another");
  look();
  ledger_.reserve(testing::reservation_for(waiting(), "n", 600, 1));
  EXPECT_THAT(look(seconds(1)), IsEmpty());
  EXPECT_THAT(look(seconds(1)), ElementsAre("n"));
}

TEST_F(MisplacedRoomOfAGroup, IsRightWhereASpreadAllowsOneMore) {
  state_.upsert(bound("second", "other"));
  look();
  EXPECT_THAT(look(seconds(1)), IsEmpty());
}

TEST_F(MisplacedRoomOfAGroup, BecomesWrongWhenOthersOfTheGroupTakePlacesBesideIt) {
  state_.upsert(bound("second", "other"));
  look();
  ASSERT_THAT(look(seconds(1)), IsEmpty());
  add_node("beside", "a");
  state_.upsert(bound("third", "beside"));
  EXPECT_THAT(look(seconds(1)), ElementsAre("n"));
}

TEST_F(MisplacedRoomOfAGroup, IsRightWhereSomeOfItIs) {
  report("another");
  ledger_.reserve(testing::reservation_for(waiting(), "other", 600, 1));
  look();
  EXPECT_THAT(look(seconds(1)), IsEmpty());
}

TEST_F(MisplacedRoomOfAGroup, IsNotKnownWhileAPodOfTheGroupIsBeingBound) {
  look();
  ledger_.attempt("somebody", now_);
  ledger_.attempted({.pod_uid = "somebody",
                     .group = group(),
                     .at = now_,
                     .until = at(600),
                     .node_hashes = {cluster::Ledger::node_hash("other")}});
  EXPECT_THAT(look(seconds(1)), IsEmpty());
}

TEST_F(MisplacedRoomOfAGroup, IsRightWhenOthersWhoseNodesAreNotUpAreToBeBoundFirst) {
  report("another");
  const auto starting = NodeBuilder("starting").label(model::kZoneLabel, "b").allocatable(4000);
  state_.upsert(starting.build());
  ledger_.reserve(testing::reservation_for(waiting(), "starting", 600, 1));
  look();
  EXPECT_THAT(look(seconds(1)), IsEmpty());
  EXPECT_TRUE(may_wait_for_others(group(), *state_.snapshot(), *ledger_.view()));
}

TEST_F(MisplacedRoomOfAGroup, IsWrongWhoeverIsBoundWhereNodesAreNotUp) {
  report("another");
  const auto starting = NodeBuilder("starting").label(model::kZoneLabel, "a").allocatable(4000);
  state_.upsert(starting.build());
  ledger_.reserve(testing::reservation_for(waiting(), "starting", 600, 1));
  look();
  EXPECT_THAT(look(seconds(1)), ElementsAre("n"));
}

TEST_F(MisplacedRoomOfAGroup, WaitsForNobodyWhenAllOfItIsUp) {
  EXPECT_FALSE(may_wait_for_others(group(), *state_.snapshot(), *ledger_.view()));
}

TEST_F(MisplacedRoomOfAGroup, IsFoundHoweverManyOthersStandStillForGood) {
  // Their room is right: nothing keeps their pods from it.
  for (int i = 0; i < 9; ++i) {
    auto other = PodBuilder("a-" + std::to_string(i)).requests(100).owned_by("a").value();
    other.meta.owner_references.front().uid = "another-" + std::to_string(i);
    other.status.conditions = {{.type = "PodScheduled",
                                .status = model::ConditionStatus::False,
                                .reason = "Unschedulable"}};
    state_.upsert(std::make_shared<const model::Pod>(other));
    state_.snapshot();
    ledger_.reserve(testing::reservation_for(other, "other", 600, 1));
  }
  look();
  std::vector<std::string> found;
  for (int i = 0; i < 12 && found.empty(); ++i) {
    found = look(milliseconds(1000));
  }
  EXPECT_THAT(found, ElementsAre("n"));
}

TEST_F(MisplacedRoomOfDevices, IsRightWhereTheyAreFree) {
  solve_.resource_claims = true;
  look();
  EXPECT_THAT(look(seconds(1)), IsEmpty());
}

TEST_F(MisplacedRoomOfDevices, IsWrongWhereTheyAreGone) {
  solve_.resource_claims = true;
  state_.remove<model::ResourceSlice>({"", "n-gpus"});
  look();
  EXPECT_THAT(look(seconds(1)), ElementsAre("n"));
}

TEST_F(MisplacedRoomOfAGroup, IsNotKnownBeforeAPodIsRefused) {
  state_.upsert(std::make_shared<const model::Pod>(waiting()));
  look();
  EXPECT_THAT(look(seconds(1)), IsEmpty());
}

}  // namespace
}  // namespace millwright::controllers
