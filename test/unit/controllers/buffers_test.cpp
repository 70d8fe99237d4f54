#include "millwright/controllers/buffers/buffer_room.hpp"
#include "millwright/controllers/provisioning/overlays.hpp"
#include "millwright/scheduling/solve.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <limits>

namespace millwright::controllers {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

model::ResourceList resources(std::initializer_list<std::pair<std::string, std::int64_t>> list) {
  model::ResourceList result;
  for (const auto& [name, amount] : list) {
    result.emplace(name, model::Quantity::from_units(amount));
  }
  return result;
}

model::CapacityBuffer buffer() {
  model::CapacityBuffer result;
  result.meta.namespace_ = "ns";
  result.meta.name = "room";
  result.meta.uid = "uid";
  return result;
}

TEST(BufferReplicas, AreTheLargerOfNumberAndShareWithinLimits) {
  struct Case {
    std::optional<std::int32_t> replicas;
    std::optional<std::int32_t> percentage;
    std::optional<model::ResourceList> limits;
    std::optional<std::int64_t> workload;
    std::int64_t expected;
  };
  const auto cpu = [](std::int64_t amount) { return resources({{"cpu", amount}}); };
  const std::vector<Case> cases{
      {3, {}, {}, {}, 3},
      {0, {}, {}, 8, 0},
      {{}, 25, {}, 8, 2},
      {{}, 25, {}, 9, 3},  // rounded up
      {{}, 1, {}, 1, 1},   // at least one
      {{}, 50, {}, 0, 0},  // of nothing
      {{}, 0, {}, 8, 0},
      {{}, 50, {}, {}, 0},  // a share of no workload
      {3, 100, {}, 2, 3},
      {1, 100, {}, 5, 5},
      {{}, {}, cpu(7), {}, 3},  // each pod wants two CPUs
      {9, {}, cpu(7), {}, 3},
      {2, {}, cpu(7), {}, 2},
      {9, {}, cpu(1), {}, 0},
      {9, {}, resources({{"cpu", 100}, {"memory", 12}}), {}, 3},
      {9, {}, resources({{"example.com/other", 1}}), {}, 9},
      {{}, {}, resources({{"example.com/other", 1}}), {}, 0},
      {{}, {}, {}, 5, 0},
  };
  const auto requests = resources({{"cpu", 2}, {"memory", 4}, {"pods", 1}});
  for (std::size_t i = 0; i < cases.size(); ++i) {
    auto asked = buffer();
    asked.replicas = cases[i].replicas;
    asked.percentage = cases[i].percentage;
    asked.limits = cases[i].limits;
    EXPECT_EQ(buffer_replicas(asked, cases[i].workload, requests), cases[i].expected)
        << "case " << i;
  }
}

model::PodTemplate pod_template() {
  model::PodTemplate result;
  result.labels = {{"app", "web"}};
  result.spec.node_name = "somewhere";
  model::Container container;
  container.requests = resources({{"cpu", 2}});
  result.spec.containers.push_back(container);
  result.spec.volumes.emplace_back();
  return result;
}

TEST(VirtualPods, AreNumberedMarkedAndWithoutVolumes) {
  const auto pods = virtual_pods(buffer(), pod_template(), 2);
  ASSERT_THAT(pods, SizeIs(2));
  EXPECT_EQ(pods[1]->meta.name, "capacity-buffer-room-1");
  EXPECT_EQ(pods[1]->meta.uid, "uid-1");
  EXPECT_EQ(pods[1]->meta.namespace_, "ns");
  EXPECT_EQ(pods[1]->meta.label("app"), "web");
  EXPECT_EQ(pods[1]->meta.annotation("karpenter.sh/capacity-buffer-fake-pod"), "true");
  EXPECT_EQ(pods[1]->meta.annotation("karpenter.sh/capacity-buffer-name"), "room");
  EXPECT_EQ(pods[1]->spec.priority, std::numeric_limits<std::int32_t>::min());
  EXPECT_THAT(pods[1]->spec.volumes, IsEmpty());
  EXPECT_TRUE(scheduling::is_provisionable(*pods[1]));
}

class Room : public testing::Test {
 protected:
  using Owner = BufferRoom::Owner;

  // True when the owner is another than before.
  bool set(std::int64_t count, std::optional<Owner> owner = std::nullopt) {
    return room_.set({"ns", "room"}, {.uid = "uid",
                                      .pods = virtual_pods(buffer(), pod_template(), count),
                                      .owner = std::move(owner)});
  }
  scheduling::NodeRecord& add_node(const std::string& name) {
    auto node = std::make_shared<model::Node>();
    node->meta.name = name;
    auto record = std::make_shared<scheduling::NodeRecord>();
    record->node = node;
    snapshot_.nodes.push_back(record);
    return *record;
  }
  std::vector<BufferRoom::Move> begin_move(const std::string& node) {
    std::vector<scheduling::NodeRecordPtr> nodes;
    std::copy_if(snapshot_.nodes.begin(), snapshot_.nodes.end(), std::back_inserter(nodes),
                 [&](const auto& record) { return record->name() == node; });
    return room_.begin_move(nodes);
  }
  // Where each pod is.
  std::vector<std::string> targets() const {
    std::vector<std::string> names;
    for (const auto& each : room_.placed_pods(snapshot_)) {
      names.push_back(each.target);
    }
    return names;
  }
  void add_claim(const std::string& name, bool launched) {
    auto claim = std::make_shared<model::NodeClaim>();
    claim->meta.name = name;
    if (launched) {
      claim->conditions = {{.type = "Launched", .status = model::ConditionStatus::True}};
    }
    auto record = std::make_shared<scheduling::NodeRecord>();
    record->claim = claim;
    snapshot_.nodes.assign({record});
  }
  std::vector<std::string> to_plan() const {
    std::vector<std::string> uids;
    for (const auto& pod : room_.to_plan(snapshot_)) {
      uids.push_back(pod->meta.uid);
    }
    return uids;
  }

  BufferRoom room_;
  scheduling::Snapshot snapshot_;
};

TEST_F(Room, IsPlannedAnewUnlessItsClaimIsOnItsWay) {
  set(2);
  EXPECT_TRUE(room_.due());
  EXPECT_THAT(to_plan(), ElementsAre("uid-0", "uid-1"));
  room_.place("uid-0", "claim");
  add_claim("claim", false);
  EXPECT_THAT(to_plan(), ElementsAre("uid-1"));
  add_claim("claim", true);
  EXPECT_THAT(to_plan(), ElementsAre("uid-0", "uid-1"));
  snapshot_.nodes.clear();
  EXPECT_THAT(to_plan(), ElementsAre("uid-0", "uid-1")) << "its claim was given up";
}

TEST_F(Room, IsSettledOnceEveryBufferWasPlannedFor) {
  snapshot_.capacity_buffers.push_back(std::make_shared<const model::CapacityBuffer>(buffer()));
  EXPECT_FALSE(room_.all_planned(snapshot_)) << "nobody has looked at it";
  set(1);
  EXPECT_FALSE(room_.all_planned(snapshot_));
  room_.place("uid-0", "");
  EXPECT_TRUE(room_.all_planned(snapshot_));
  EXPECT_THAT(targets(), IsEmpty()) << "what finds no place keeps no node";
  EXPECT_TRUE(room_.all_up(snapshot_)) << "nobody waits for what cannot be had";
  EXPECT_EQ(room_.fit({"ns", "room"}, snapshot_), BufferRoom::Fit::New);
}

TEST_F(Room, ShrinksAndGoes) {
  set(3);
  set(1);
  EXPECT_THAT(to_plan(), ElementsAre("uid-0"));
  EXPECT_THAT(room_.pod_uids({"ns", "room"}), ElementsAre("uid-0"));
  EXPECT_THAT(room_.pod_uids({"ns", "other"}), IsEmpty());
  room_.forget({"ns", "room"});
  EXPECT_THAT(room_.pod_uids({"ns", "room"}), IsEmpty());
}

TEST_F(Room, IsReservedByNodeForTheWorkloadThatItIsKeptFor) {
  constexpr base::TimePoint kUntil{std::chrono::hours(1)};
  EXPECT_TRUE(set(4, Owner{.uid = "rs", .priority = 7}));
  EXPECT_FALSE(set(4, Owner{.uid = "rs", .priority = 7}));
  auto& first = add_node("a");
  add_node("b");
  for (const auto* uid : {"uid-0", "uid-2"}) {
    room_.place(uid, "a");
  }
  room_.place("uid-1", "b");
  room_.place("uid-3", "gone");
  const auto reservations = room_.reservations(snapshot_, kUntil);
  ASSERT_THAT(reservations, SizeIs(2));
  EXPECT_EQ(reservations[0],
            (scheduling::Reservation{.group = scheduling::GroupId::of_owner("rs"),
                                     .target = "a",
                                     .count = 2,
                                     .sample = {"ns", "capacity-buffer-room-0"},
                                     .requests = resources({{"cpu", 2}, {"pods", 1}}),
                                     .priority = 7,
                                     .until = kUntil,
                                     .of_buffer = true}));
  EXPECT_EQ(reservations[1].target, "b");
  EXPECT_EQ(reservations[1].count, 1);
  EXPECT_THAT(room_.placed_on(reservations[0], snapshot_), ElementsAre("uid-0", "uid-2"));
  auto others = reservations[0];
  others.group = scheduling::GroupId::of_owner("another");
  EXPECT_THAT(room_.placed_on(others, snapshot_), IsEmpty());
  first.marked_for_deletion = true;
  EXPECT_THAT(room_.reservations(snapshot_, kUntil), SizeIs(1)) << "one of its nodes is going";
  EXPECT_TRUE(set(4));
  EXPECT_THAT(room_.reservations(snapshot_, kUntil), IsEmpty()) << "anybody may take it";
}

TEST_F(Room, IsReservedBeforeItsNodeIsUp) {
  set(1, Owner{.uid = "uid", .priority = -1, .open = true});
  add_claim("claim", false);
  room_.place("uid-0", "claim");
  const auto reservations = room_.reservations(snapshot_, {});
  ASSERT_THAT(reservations, SizeIs(1));
  EXPECT_EQ(reservations[0].target, "claim");
  EXPECT_EQ(reservations[0].priority, -1);
  EXPECT_TRUE(reservations[0].open);
  EXPECT_FALSE(room_.all_up(snapshot_));
}

TEST_F(Room, IsLeftAloneByPlansWhileARemovalMovesIt) {
  set(2);
  auto& old = add_node("old");
  add_node("other");
  add_node("new");
  room_.place("uid-0", "old");
  room_.place("uid-1", "other");
  const auto moves = begin_move("old");
  ASSERT_THAT(moves, SizeIs(1));
  EXPECT_EQ(moves[0].pod_uid, "uid-0");
  EXPECT_THAT(to_plan(), ElementsAre("uid-1"));
  EXPECT_TRUE(room_.move("uid-0", "new"));
  EXPECT_FALSE(room_.move("a real pod", "new"));
  room_.place("uid-0", "old");
  EXPECT_THAT(targets(), ElementsAre("new", "other")) << "a plan that began before knows less";
  old.marked_for_deletion = true;
  room_.end_move(moves, snapshot_);
  EXPECT_THAT(targets(), ElementsAre("new", "other"));
  EXPECT_THAT(to_plan(), ElementsAre("uid-0", "uid-1"));
  EXPECT_TRUE(room_.all_up(snapshot_));
}

TEST_F(Room, ReturnsWhenARemovalIsTakenBack) {
  set(1);
  add_node("old");
  room_.place("uid-0", "old");
  const auto moves = begin_move("old");
  room_.move("uid-0", "a claim that is gone");
  room_.end_move(moves, snapshot_);
  EXPECT_THAT(targets(), ElementsAre("old"));
}

TEST(OverlayCache, RemembersUntilSomethingChangesAndSaysWhatIsInvalid) {
  scheduling::InstanceType type;
  type.name = "t";
  scheduling::Offering offering;
  offering.price = 1;
  type.offerings.push_back(offering);
  const scheduling::Catalog base{
      {"p", std::make_shared<const std::vector<scheduling::InstanceType>>(1, type)}};
  auto pool = std::make_shared<model::NodePool>();
  pool->meta.name = "p";
  auto overlay = std::make_shared<model::NodeOverlay>();
  overlay->meta.name = "o";
  overlay->price = "3";
  overlay->capacity = resources({{"example.com/device", 2}});
  scheduling::Snapshot snapshot;
  snapshot.node_pools.push_back(pool);
  snapshot.node_overlays.push_back(overlay);
  OverlayCache cache;
  const auto first = cache.apply(snapshot, base).catalog;
  EXPECT_DOUBLE_EQ(first.at("p")->front().offerings.front().price, 3);
  EXPECT_EQ(cache.apply(snapshot, base).catalog, first) << "the very same lists";
  ASSERT_NE(cache.change("p", "t"), nullptr);
  EXPECT_EQ(cache.change("p", "u"), nullptr);
  EXPECT_TRUE(cache.provides("p", "example.com/device"));
  EXPECT_FALSE(cache.provides("p", "cpu"));

  auto invalid = std::make_shared<model::NodeOverlay>(*overlay);
  invalid->price = "dear";
  snapshot.node_overlays = {invalid};
  EXPECT_EQ(cache.apply(snapshot, base).catalog, base);
  ASSERT_TRUE(cache.problems().contains("o"));
  EXPECT_EQ(cache.problems().at("o").reason, "RuntimeValidation");
}

}  // namespace
}  // namespace millwright::controllers
