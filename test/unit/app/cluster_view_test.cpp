// What `millwright top` shows: what is made of a snapshot, and how it is shown.
#include "app/top/cluster_view.hpp"

#include "app/top/terminal.hpp"
#include "unit/scheduling/builders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::app {
namespace {

using namespace std::chrono_literals;
using scheduling::testing::node;
using scheduling::testing::pod;
using telemetry::Decision;
using telemetry::DecisionKind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const base::TimePoint kNow = *base::parse_rfc3339("2026-11-24T12:00:00Z");

std::shared_ptr<const model::NodePool> node_pool(const std::string& name) {
  auto pool = std::make_shared<model::NodePool>();
  pool->meta.name = name;
  return pool;
}

telemetry::DecisionPtr decided(Decision decision) {
  return std::make_shared<const Decision>(std::move(decision));
}

class TopView : public testing::Test {
 protected:
  ClusterView view() const {
    return view_of(
        {.snapshot = snapshot_, .catalog = catalog_, .decisions = decisions_, .now = kNow});
  }
  void waits(const std::string& name, base::Duration since, const std::string& owner = "") {
    auto made = pod(name).with([&](model::Pod& p) { p.meta.creation_timestamp = kNow - since; });
    snapshot_.pending_pods.push_back(owner.empty() ? made : made.owned_by("ReplicaSet", owner));
  }

  scheduling::Snapshot snapshot_;
  scheduling::Catalog catalog_;
  Decisions decisions_;
};

TEST_F(TopView, ANodeHasItsPriceFillAndReservations) {
  catalog_["default"] =
      scheduling::testing::types({scheduling::testing::type("small").cpu("4").memory("4Gi")});
  const auto& offering = catalog_["default"]->front().offerings.front();
  snapshot_.nodes.push_back(
      node("n1")
          .label(model::kInstanceTypeLabel, "small")
          .label(model::kZoneLabel, std::string(offering.zone()))
          .label(model::kCapacityTypeLabel, std::string(offering.capacity_type()))
          .runs(pod("a").cpu("1").memory("1Gi"))
          .with_node([](model::Node& n) { n.meta.creation_timestamp = kNow - 90s; }));
  scheduling::Reservation reservation;
  reservation.target = "n1";
  reservation.count = 3;
  snapshot_.reservations = std::vector{reservation};
  const auto row = view().nodes.at(0);
  EXPECT_EQ(row.name, "n1");
  EXPECT_EQ(row.node_pool, "default");
  EXPECT_EQ(row.instance_type, "small");
  EXPECT_DOUBLE_EQ(row.cpu, 4);
  EXPECT_DOUBLE_EQ(row.cpu_requested, 1);
  EXPECT_DOUBLE_EQ(row.memory_requested / row.memory, 0.25);
  EXPECT_EQ(row.pods, 1U);
  EXPECT_EQ(row.kept, 3U);
  ASSERT_TRUE(row.price);
  EXPECT_DOUBLE_EQ(*row.price, offering.price);
  EXPECT_EQ(row.age, 90s);
}

TEST_F(TopView, NodePoolsThatHaveNoNodesAreNamedToo) {
  snapshot_.node_pools = {node_pool("b"), node_pool("a")};
  EXPECT_THAT(view().node_pools, ElementsAre("a", "b"));
}

TEST_F(TopView, StatesSayWhetherANodeComesWorksOrGoes) {
  const auto ready = [](model::Node& n) {
    n.conditions = {{.type = "Ready", .status = model::ConditionStatus::True}};
  };
  const auto deleting = [](model::Node& n) { n.meta.deletion_timestamp = kNow; };
  const auto fenced = [](scheduling::NodeRecord& record) { record.fenced = true; };
  const auto marked = [](scheduling::NodeRecord& record) { record.marked_for_deletion = true; };
  const std::pair<const char*, scheduling::NodeRecordPtr> rows[] = {
      {"Coming", node("a").without_node()},
      {"Starting", node("b").with_node(ready).uninitialized()},
      {"Ready", node("c").with_node(ready)},
      {"Ready", node("d").with_node(ready).unmanaged()},
      {"NotReady", node("e")},
      {"Fenced", node("f").with_node(ready).with_record(fenced)},
      {"Fenced", node("g").with_node(ready).with_record(marked)},
      {"Draining", node("h").with_node(deleting).with_record(fenced)}};
  for (const auto& [state, record] : rows) {
    snapshot_.nodes = {record};
    EXPECT_EQ(view().nodes.at(0).state, state) << record->name();
  }
}

TEST_F(TopView, PodsOfOneWorkloadThatWaitForTheSameReasonAreOneRow) {
  waits("web-1", 40s, "web");
  waits("web-2", 60s, "web");
  waits("web-3", 5s, "web");
  waits("alone", 10s);
  for (const char* name : {"web-1", "web-2"}) {
    decisions_.push_back(decided({.kind = DecisionKind::Refusal,
                                  .about = {{.kind = "Pod", .namespace_ = "default", .name = name}},
                                  .message = "it fits on no node"}));
  }
  const auto rows = view().waiting;
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].why, "it fits on no node");
  EXPECT_EQ(rows[0].pods, 2U);
  EXPECT_EQ(rows[0].since, 60s);
  EXPECT_EQ(rows[1].pod, "default/alone");
  EXPECT_EQ(rows[1].why, "nothing is decided about it yet");
  EXPECT_EQ(rows[2].pod, "default/web-3");
  EXPECT_EQ(view().pods_waiting, 4U);
}

TEST_F(TopView, WhatWasDecidedLastIsWhyAPodWaits) {
  waits("web-1", 40s);
  decisions_.push_back(
      decided({.kind = DecisionKind::Refusal,
               .about = {{.kind = "Pod", .namespace_ = "default", .name = "web-1"}},
               .message = "it fits on no node"}));
  decisions_.push_back(decided({.kind = DecisionKind::Purchase,
                                .about = {{.kind = "NodeClaim", .name = "default-a"}},
                                .pods = {"default/web-1"}}));
  EXPECT_EQ(view().waiting.at(0).why, "room was bought: NodeClaim default-a");
  decisions_.push_back(
      decided({.kind = DecisionKind::Plan, .targets = {{"default/web-1", "node-7"}}}));
  EXPECT_EQ(view().waiting.at(0).why, "has room on node-7");
  auto gated = pod("gated").with([](model::Pod& p) { p.spec.scheduling_gates = {"quota"}; });
  snapshot_.pending_pods = {gated};
  EXPECT_EQ(view().waiting.at(0).why, "held by its scheduling gate quota");
}

TEST_F(TopView, OfVeryManyReasonsThoseThatWaitLongestAreShownAndAllAreCounted) {
  for (std::size_t i = 0; i < kMostWaiting + 50; ++i) {
    waits("p" + std::to_string(i), std::chrono::seconds(i));
  }
  EXPECT_EQ(view().waiting.size(), kMostWaiting);
  EXPECT_EQ(view().waiting.front().since, std::chrono::seconds(kMostWaiting + 49));
  EXPECT_EQ(view().pods_waiting, kMostWaiting + 50);
}

// Two NodePools and a node of nobody's.
ClusterView shop() {
  const auto row = [](const char* name, const char* pool, double price, double used) {
    NodeRow node;
    node.name = name;
    node.node_pool = pool;
    node.instance_type = "c-4x-amd64-linux";
    node.zone = "test-zone-a";
    node.capacity_type = "spot";
    node.state = "Ready";
    node.cpu = 4;
    node.cpu_requested = used;
    node.memory = 8;
    node.memory_requested = 2;
    node.pods = static_cast<std::size_t>(used * 2);
    node.age = std::chrono::hours(static_cast<int>(price * 10));
    node.price = price;
    return node;
  };
  ClusterView view;
  view.time = kNow;
  view.node_pools = {"batch", "default", "idle"};
  view.nodes = {row("n-b", "default", 0.3, 1), row("n-a", "default", 0.1, 3),
                row("n-c", "batch", 0.2, 2), row("own", "", 0, 1)};
  view.nodes[0].kept = 4;
  view.nodes[1].state = kFenced;
  view.nodes[2].state = kComing;
  view.nodes[3].price = std::nullopt;
  view.pods_waiting = 2;
  view.waiting = {{.pod = "shop/web-1", .pods = 2, .since = 65s, .why = "it fits on no node"}};
  return view;
}

TEST(Top, AWholeViewIsShown) {
  EXPECT_EQ(to_text(chosen(shop(), {})),
            "2026-11-24T12:00:00Z  3 nodes (+1 coming), 1 fenced  $0.6000/h + 1 without a price\n"
            "14 pods on nodes, room kept for 4, 2 waiting\n"
            "\n"
            "NODEPOOL  NODES  COMING  FENCED  PODS  KEPT  CPU  MEM  $/H\n"
            "(none)    1                      2           25%  25%  0.0000\n"
            "batch     0      1               4           50%  25%  0.2000\n"
            "default   2              1       8     4     50%  25%  0.4000\n"
            "idle      0                      0                     0.0000\n"
            "\n"
            "NODE  POOL     TYPE              ZONE         CAPACITY  STATE   PODS  KEPT  CPU    "
            "MEM  $/H     AGE\n"
            "n-a   default  c-4x-amd64-linux  test-zone-a  spot      Fenced  6           3.0/4  "
            "25%  0.1000  60m\n"
            "n-b   default  c-4x-amd64-linux  test-zone-a  spot      Ready   2     4     1.0/4  "
            "25%  0.3000  3h\n"
            "n-c   batch    c-4x-amd64-linux  test-zone-a  spot      Coming  4           2.0/4  "
            "25%  0.2000  120m\n"
            "own            c-4x-amd64-linux  test-zone-a  spot      Ready   2           1.0/4  "
            "25%  ?       0s\n"
            "\n"
            "WAITING     PODS  SINCE  WHY\n"
            "shop/web-1  2     65s    it fits on no node\n");
}

void expect_within(const std::string& text, std::size_t width) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    EXPECT_LE(end, width) << rest.substr(0, end);
    rest.remove_prefix(end + 1);
  }
}

TEST(Top, EightyColumnsAreEnoughHoweverLongNamesAre) {
  ClusterView view = shop();
  view.nodes[0].name = "ip-10-0-117-219.eu-central-1.compute.internal";
  view.nodes[0].node_pool = view.node_pools[1] = "a-nodepool-with-a-very-long-name-of-its-own";
  view.nodes[0].cpu = 192;
  view.nodes[0].cpu_requested = 188.5;
  view.waiting[0].pod = "a-namespace-of-some-length/a-deployment-of-some-length-7fg8cbbtvt-x52xx";
  view.waiting[0].why =
      "NodePool default: wanted kubernetes.io/arch In [s390x], offered amd64, arm64";
  const auto text = to_text(view, 80);
  expect_within(text, 80);
  EXPECT_THAT(text, HasSubstr("ip-10-0-"));
  EXPECT_THAT(text, HasSubstr("188.5/192"));
  EXPECT_THAT(text, HasSubstr("a-namespace-of"));
  EXPECT_THAT(text, HasSubstr("~"));
  EXPECT_THAT(text, Not(HasSubstr("ZONE")));
  for (const std::size_t width : {20U, 40U, 60U, 120U}) {
    expect_within(to_text(view, width), width);
  }
}

TEST(Top, AnEmptyClusterIsSaidToBeEmpty) {
  ClusterView view;
  view.time = kNow;
  EXPECT_EQ(to_text(view, 80),
            "2026-11-24T12:00:00Z  0 nodes  $0.0000/h\n"
            "0 pods on nodes, room kept for 0, 0 waiting\n"
            "No nodes.\n");
}

std::string order_of(const char* sort) {
  std::string names;
  for (const auto& row : chosen(shop(), {.order = *parse_node_order(sort)}).nodes) {
    names += row.name + " ";
  }
  return names;
}

TEST(Top, NodesAreSortedAsAskedAndEqualOnesByName) {
  const std::pair<const char*, const char*> orders[] = {
      {"name", "n-a n-b n-c own "},  {"pool", "own n-c n-a n-b "}, {"state", "n-c n-a n-b own "},
      {"price", "n-b n-c n-a own "}, {"cpu", "n-a n-c n-b own "},  {"memory", "n-a n-b n-c own "},
      {"pods", "n-a n-c n-b own "},  {"kept", "n-b n-a n-c own "}, {"age", "n-b n-c n-a own "}};
  for (const auto& [sort, names] : orders) {
    EXPECT_EQ(order_of(sort), names) << sort;
  }
  const auto wrong = parse_node_order("colour");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("name, pool, state, price"));
}

TEST(Top, APoolAloneIsCountedAndShownAlone) {
  const auto view = chosen(shop(), {.node_pool = "default"});
  EXPECT_THAT(view.node_pools, ElementsAre("default"));
  EXPECT_EQ(view.nodes.size(), 2U);
  const auto text = to_text(view, 80);
  EXPECT_THAT(text, HasSubstr("2 nodes, 1 fenced  $0.4000/h\n"));
  EXPECT_THAT(text, HasSubstr("shop/web-1")) << "which NodePool it will get is not decided";
  EXPECT_THAT(chosen(shop(), {.node_pool = "none"}).nodes, IsEmpty());
}

TEST(Top, JsonSaysTheSame) {
  const auto view = chosen(shop(), {});
  const auto read = parse_cluster_view(to_json(view));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_text(*read), to_text(view));
}

TEST(Top, WhatIsNoViewIsRefusedAndOddAmountsAreNone) {
  EXPECT_FALSE(parse_cluster_view("{}"));
  EXPECT_FALSE(parse_cluster_view("not json"));
  const auto odd = parse_cluster_view(
      R"({"time":"2026-11-24T12:00:00Z","nodes":[{"name":"a","pods":-1,"pricePerHour":"x",
          "ageSeconds":1e300,"cpu":1e300},7],"nodePools":{},"waiting":[null]})");
  ASSERT_TRUE(odd) << odd.error().message;
  EXPECT_EQ(odd->nodes.size(), 2U);
  EXPECT_FALSE(odd->nodes[0].price);
  EXPECT_FALSE(odd->nodes[0].age);
  expect_within(to_text(*odd, 80), 80);
}

TEST(Top, AFrameDrawsOverTheLastOneAndKeepsToTheScreen) {
  EXPECT_EQ(frame("a\nb\n", 24), "\x1b[Ha\x1b[K\r\nb\x1b[K\r\n\x1b[J");
  EXPECT_EQ(frame("a\nb\nc\nd\n", 4),
            "\x1b[Ha\x1b[K\r\nb\x1b[K\r\n... 2 more lines\x1b[K\r\n\x1b[J");
}

}  // namespace
}  // namespace millwright::app
