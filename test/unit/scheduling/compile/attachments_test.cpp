// What reserved pods attach, and what a node still can.
#include "millwright/scheduling/attachments.hpp"

#include "unit/scheduling/builders.hpp"

#include <gtest/gtest.h>

namespace millwright::scheduling::testing {
namespace {

class AttachmentsTest : public ::testing::Test {
 protected:
  AttachmentsTest() {
    auto late = std::make_shared<model::StorageClass>();
    late->meta.name = "late";
    late->provisioner = "disk";
    world_.storage_classes.push_back(late);
    for (const char* name : {"a", "b", "c", "shared"}) {
      auto claim = std::make_shared<model::PersistentVolumeClaim>();
      claim->meta.name = name;
      claim->meta.namespace_ = "default";
      claim->storage_class = "late";
      world_.volume_claims.push_back(claim);
    }
  }
  void says(const std::string& node, std::optional<std::int32_t> limit) {
    auto csi_node = std::make_shared<model::CSINode>();
    csi_node->meta.name = node;
    csi_node->drivers = {{.name = "disk", .allocatable_count = limit}};
    world_.csi_nodes.push_back(csi_node);
  }
  // One group of these pods.
  GroupId demand(std::vector<PodPtr> waiting) {
    GroupDemand demand{.group = GroupId("owner/print"), .waiting = std::move(waiting)};
    demand.sample = demand.waiting.front();
    world_.demand = {demand};
    return demand.group;
  }
  static PodPtr uses(const std::string& name, const std::string& claim) {
    return pod(name).claim_volume(claim).claim_volume("shared");
  }

  Snapshot world_;
};

TEST_F(AttachmentsTest, OfAGroupAreThoseOfSoManyPodsWithSharedOnesOnce) {
  const auto group = demand({uses("p", "a"), uses("q", "b"), uses("r", "c")});
  Attachments attachments(world_);
  EXPECT_EQ(attachments.of_group(group, 1), (VolumeCounts{{"disk", 2}}));
  EXPECT_EQ(attachments.of_group(group, 3), (VolumeCounts{{"disk", 4}}));
  EXPECT_EQ(attachments.of_group(group, 9), (VolumeCounts{{"disk", 4}}));
  EXPECT_EQ(attachments.of_group(group, 0), VolumeCounts());
  EXPECT_EQ(attachments.of_group(GroupId("other/print"), 1), VolumeCounts());
}

TEST_F(AttachmentsTest, WhatIsOnTheNodeAlreadyIsNotAttachedAgain) {
  const auto group = demand({uses("p", "a"), uses("q", "b")});
  const NodeRecord there = node("n").runs(pod("x").claim_volume("shared")).value();
  Attachments attachments(world_);
  EXPECT_EQ(attachments.of_group(group, 2, &there), (VolumeCounts{{"disk", 2}}));
}

TEST_F(AttachmentsTest, ANodeCanAttachWhatItsDriversSayLessItsPodsVolumes) {
  says("n", 3);
  says("o", std::nullopt);
  says("p", 1);
  const auto free_on = [&](const NodeBuilder& builder) {
    return Attachments(world_).free_on(builder.value());
  };
  EXPECT_EQ(free_on(node("n")), (VolumeCounts{{"disk", 3}}));
  EXPECT_EQ(free_on(node("n").runs(uses("x", "a")).runs(uses("y", "b"))),
            (VolumeCounts{{"disk", 0}}));
  EXPECT_EQ(free_on(node("p").runs(uses("x", "a"))), (VolumeCounts{{"disk", 0}}));
  EXPECT_EQ(free_on(node("o")), VolumeCounts());
  EXPECT_EQ(free_on(node("q")), VolumeCounts());
}

}  // namespace
}  // namespace millwright::scheduling::testing
