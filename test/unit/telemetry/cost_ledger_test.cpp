#include "millwright/telemetry/cost_ledger.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::telemetry {
namespace {

using std::chrono::minutes;

class Ledgered : public testing::Test {
 protected:
  Ledgered() {
    scheduling::InstanceType type;
    type.name = "c-4x";
    scheduling::Offering offering;
    offering.requirements =
        scheduling::Requirements::from_labels({{std::string(model::kZoneLabel), "z-1"},
                                               {std::string(model::kCapacityTypeLabel), "spot"}});
    offering.price = 0.6;
    type.offerings.push_back(offering);
    catalog_["default"] = std::make_shared<const std::vector<scheduling::InstanceType>>(1, type);
  }

  scheduling::NodeRecord node(const std::string& name, bool initialized = true) {
    auto claim = std::make_shared<model::NodeClaim>();
    claim->meta.name = name;
    claim->meta.labels = {{std::string(model::kNodePoolLabel), "default"},
                          {std::string(model::kInstanceTypeLabel), "c-4x"},
                          {std::string(model::kZoneLabel), "z-1"},
                          {std::string(model::kCapacityTypeLabel), "spot"}};
    auto object = std::make_shared<model::Node>();
    object->meta.name = name;
    object->meta.labels = claim->meta.labels;
    object->meta.labels[std::string(model::kRegisteredLabel)] = "true";
    if (initialized) {
      object->meta.labels[std::string(model::kInitializedLabel)] = "true";
    }
    scheduling::NodeRecord record;
    record.claim = claim;
    record.node = object;
    return record;
  }
  void add(scheduling::NodeRecord record) {
    snapshot_.nodes.push_back(std::make_shared<const scheduling::NodeRecord>(std::move(record)));
  }
  void look_after(base::Duration time) {
    now_ += time;
    ledger_.look(snapshot_, catalog_, now_);
  }
  double spent(const std::string& use) const {
    return metrics_.value("millwright_cost_total", {{"nodepool", "default"}, {"use", use}});
  }

  base::Metrics metrics_;
  scheduling::Snapshot snapshot_;
  scheduling::Catalog catalog_;
  base::TimePoint now_;
  CostLedger ledger_{metrics_};
};

TEST_F(Ledgered, AddsUpWhatNodesCostFromTheFirstLookOn) {
  add(node("a"));
  look_after(minutes(30));
  EXPECT_DOUBLE_EQ(spent("empty"), 0);
  look_after(minutes(30));
  EXPECT_DOUBLE_EQ(spent("empty"), 0.3);
}

TEST_F(Ledgered, TellsWhatIsPaidForWaitingFromWhatIsPaidForWork) {
  add(node("a", false));
  auto working = node("b");
  auto pod = std::make_shared<model::Pod>();
  pod->meta.name = "web";
  pod->status.phase = "Running";
  working.pods.push_back(pod);
  add(std::move(working));
  auto leaving = node("c");
  leaving.marked_for_deletion = true;
  add(std::move(leaving));
  add(node("d"));
  scheduling::Reservation kept;
  kept.target = "d";
  snapshot_.reservations = scheduling::SnapshotReservations(std::vector{kept});
  look_after(minutes(0));
  look_after(minutes(10));
  for (const auto* use : {"starting", "working", "leaving", "reserved"}) {
    EXPECT_DOUBLE_EQ(spent(use), 0.1) << use;
  }
  EXPECT_DOUBLE_EQ(spent("empty"), 0);
}

TEST_F(Ledgered, LeavesOutWhatHasNoPrice) {
  auto strange = node("a");
  catalog_.clear();
  add(std::move(strange));
  look_after(minutes(0));
  look_after(minutes(10));
  EXPECT_DOUBLE_EQ(spent("empty"), 0);
}

}  // namespace
}  // namespace millwright::telemetry
