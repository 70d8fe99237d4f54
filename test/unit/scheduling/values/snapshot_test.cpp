// How a node is seen while it starts, what is reserved, and what instance types have to give.
#include "unit/scheduling/builders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::scheduling::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

std::vector<std::string> taint_keys(const NodeRecord& record) {
  std::vector<std::string> keys;
  for (const auto& taint : record.taints()) {
    keys.push_back(taint.key);
  }
  return keys;
}

TEST(NodeRecord, IsNamedAfterTheNodeOrElseTheClaim) {
  EXPECT_EQ(node("n").value().name(), "n");
  EXPECT_EQ(node("n").without_node().value().name(), "claim-n");
  EXPECT_EQ(node("n").value().claim_name(), "claim-n");
  EXPECT_EQ(node("n").unmanaged().value().claim_name(), "");
  EXPECT_EQ(node("n").value().node_pool(), "default");
  EXPECT_EQ(node("n").unmanaged().value().node_pool(), "");
  EXPECT_EQ(NodeRecord{}.name(), "");
}

TEST(NodeRecord, AnUnmanagedNodeIsReadyAsItIs) {
  const auto record = node("n").unmanaged().taint("t", "", "NoSchedule").value();
  EXPECT_TRUE(record.registered());
  EXPECT_TRUE(record.initialized());
  EXPECT_THAT(taint_keys(record), ElementsAre("t"));
}

TEST(NodeRecord, ShowsTheClaimsLabelsAndTaintsUntilRegistered) {
  const auto starting = node("n")
                            .without_label(model::kRegisteredLabel)
                            .uninitialized()
                            .with_node([](auto& n) { n.meta.labels["only"] = "node"; })
                            .taint("node", "", "NoSchedule")
                            .with_claim([](auto& c) {
                              c.meta.labels["only"] = "claim";
                              c.taints.push_back({.key = "claim", .effect = "NoSchedule"});
                            })
                            .value();
  EXPECT_FALSE(starting.registered());
  EXPECT_EQ(starting.labels().at("only"), "claim");
  EXPECT_THAT(taint_keys(starting), ElementsAre("claim"));
  const auto registered = node("n").taint("node", "", "NoSchedule").value();
  EXPECT_THAT(taint_keys(registered), ElementsAre("node"));
}

TEST(NodeRecord, IgnoresEphemeralAndStartupTaintsUntilInitialized) {
  const auto base =
      node("n")
          .taint("node.kubernetes.io/not-ready", "", "NoSchedule")
          .taint("readiness.k8s.io/cni", "", "NoSchedule")
          .taint("startup", "x", "NoSchedule")
          .taint("startup", "other-value", "NoSchedule")
          .with_claim([](auto& c) {
            c.startup_taints.push_back({.key = "startup", .value = "x", .effect = "NoSchedule"});
          });
  NodeBuilder starting = base;
  EXPECT_THAT(taint_keys(starting.uninitialized().value()), ElementsAre("startup"));
  EXPECT_EQ(taint_keys(base.value()).size(), 4u);
}

TEST(NodeRecord, FillsInWhatTheNodeReportsAsZeroUntilInitialized) {
  const auto zeroed = node("n")
                          .with_node([](auto& n) {
                            n.allocatable["gpu"] = quantity("0");
                            n.allocatable.erase("memory");
                            n.allocatable["cpu"] = quantity("3");
                          })
                          .with_claim([](auto& c) { c.allocatable["gpu"] = quantity("1"); });
  NodeBuilder starting = zeroed;
  const auto filled = starting.uninitialized().value().allocatable();
  EXPECT_EQ(filled.at("gpu"), quantity("1"));
  EXPECT_EQ(filled.at("memory"), quantity("4Gi"));
  EXPECT_EQ(filled.at("cpu"), quantity("3"));
  EXPECT_EQ(zeroed.value().allocatable().at("gpu"), quantity("0"));
  EXPECT_EQ(node("n").without_node().value().capacity().at("cpu"), quantity("4"));
}

TEST(InstanceType, LeavesPodsWhatOverheadAndHugePagesDoNotTake) {
  const InstanceType plain = type("t").cpu("4").memory("8Gi").has("hugepages-2Mi", "1Gi");
  const auto allocatable = plain.allocatable();
  EXPECT_EQ(allocatable.at("cpu"), quantity("3900m"));
  EXPECT_EQ(allocatable.at("memory"), quantity("7158Mi"));
  EXPECT_EQ(allocatable.at("hugepages-2Mi"), quantity("1Gi"));
}

TEST(InstanceType, NeverLeavesLessThanNothing) {
  InstanceType tiny = type("t").cpu("50m").memory("5Mi");
  tiny.overhead["gpu"] = quantity("1");
  EXPECT_EQ(tiny.allocatable().at("cpu"), quantity("0"));
  EXPECT_EQ(tiny.allocatable().at("memory"), quantity("0"));
  EXPECT_FALSE(tiny.allocatable().contains("gpu"));
}

TEST(InstanceType, CheapestOfferingIsTheCheapestAvailableCompatibleOne) {
  InstanceType item = type("t")
                          .sold(std::vector<std::pair<std::string, std::string>>{})
                          .sold(offering("a", "spot", 1))
                          .sold(offering("a", "on-demand", 3))
                          .sold(offering("b", "on-demand", 2));
  const Requirements anything;
  Requirements on_demand;
  on_demand.add(in(model::kCapacityTypeLabel, {"on-demand"}));
  EXPECT_EQ(cheapest_offering(item, anything)->price, 1);
  EXPECT_EQ(cheapest_offering(item, on_demand)->zone(), "b");
  item.offerings[2].available = false;
  EXPECT_EQ(cheapest_offering(item, on_demand)->zone(), "a");
  Requirements elsewhere;
  elsewhere.add(in(model::kZoneLabel, {"c"}));
  EXPECT_EQ(cheapest_offering(item, elsewhere), nullptr);
}

TEST(InstanceType, ARunningNodeIsPricedByItsLabelsWhateverIsAvailableNow) {
  const auto list = types({type("t")
                               .sold(std::vector<std::pair<std::string, std::string>>{})
                               .sold(offering("a", "spot", 1))
                               .sold(offering("a", "on-demand", 3))});
  const auto labels = [](std::string zone, std::string capacity_type) {
    return model::StringMap{{std::string(model::kInstanceTypeLabel), "t"},
                            {std::string(model::kZoneLabel), std::move(zone)},
                            {std::string(model::kCapacityTypeLabel), std::move(capacity_type)}};
  };
  EXPECT_EQ(price_of(list, labels("a", "on-demand")), 3);
  EXPECT_EQ(price_of(list, labels("b", "on-demand")), std::nullopt);
  EXPECT_EQ(price_of(list, {}), std::nullopt);
  EXPECT_EQ(price_of(nullptr, labels("a", "spot")), std::nullopt);
  EXPECT_EQ(find_type(list, "t"), &list->front());
  EXPECT_EQ(find_type(list, "u"), nullptr);
}

TEST(SnapshotReservations, AreSortedAndCountedByGroup) {
  const GroupId web("web/1");
  const GroupId api("api/1");
  const SnapshotReservations reservations({
      {.group = web, .target = "b", .count = 2},
      {.group = web, .target = "a", .count = 1},
      {.group = api, .target = "b", .count = 4},
      {.group = GroupId::of_owner("web"), .target = "b", .count = 8, .of_buffer = true},
  });
  std::vector<std::pair<std::string, std::string>> order;
  for (const auto& each : reservations) {
    order.emplace_back(each.target, each.group.text());
  }
  EXPECT_THAT(order, ElementsAre(Pair("a", "web/1"), Pair("b", "api/1"), Pair("b", "web/*"),
                                 Pair("b", "web/1")));
  EXPECT_THAT(reserved_by_group(reservations), ElementsAre(Pair(api, 4), Pair(web, 3)));
}

}  // namespace
}  // namespace millwright::scheduling::testing
