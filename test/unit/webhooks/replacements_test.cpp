// What kubectl says when an edit of a NodePool or a NodeClass will replace nodes.
#include "small_cluster.hpp"
#include "unit/cluster/objects.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::webhooks {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
namespace made = millwright::testing;

// Nodes of c-4x, each with a pod of 3 CPUs, of the NodePool of the cases; prices by type.
class Replaced : public ::testing::Test {
 protected:
  Replaced() {
    auto types = std::make_shared<std::vector<scheduling::InstanceType>>(
        *view_.instance_types(model::NodeClassReference{}));
    for (std::size_t i = 0; i < types->size(); ++i) {
      auto& type = (*types)[i];
      type.capacity = {{"cpu", model::Quantity::from_units(2 << i)},
                       {"memory", model::Quantity::from_units(std::int64_t{64} << 30)},
                       {"pods", model::Quantity::from_units(100)}};
      for (auto& offering : type.offerings) {
        offering.price = 0.1 * static_cast<double>(2 << i);
      }
    }
    view_.instance_types = [types](const model::NodeClassReference&) { return types; };
    view_.cluster = [this] { return snapshot_; };
    view_.may_preview = [this] { return may_preview_; };
    old_ = base_pool();
    old_.as_object()["status"] = {
        {"conditions", json::array{{{"type", "Ready"}, {"status", "True"}}}}};
    snapshot_->synced = true;
    const auto pool = model::decode<model::NodePool>(old_);
    snapshot_->node_pools.push_back(std::make_shared<const model::NodePool>(*pool));
    for (const char* name : {"a", "b", "c"}) {
      add_node(name, *pool);
    }
  }

  void add_node(const std::string& name, const model::NodePool& pool) {
    auto claim =
        *made::ClaimBuilder(name)
             .provider("kwok://" + name)
             .condition("Launched")
             .annotation(model::kNodePoolHashAnnotation, model::nodepool_hash(pool.template_))
             .annotation(model::kNodePoolHashVersionAnnotation,
                         std::string(model::kNodePoolHashVersion))
             .build();
    claim.node_class_ref = pool.template_.node_class_ref;
    claim.meta.labels = {{"karpenter.sh/nodepool", pool.meta.name},
                         {"node.kubernetes.io/instance-type", "c-4x-amd64-linux"},
                         {"kubernetes.io/arch", "amd64"},
                         {"kubernetes.io/os", "linux"},
                         {"karpenter.kwok.sh/instance-cpu", "4"},
                         {"topology.kubernetes.io/zone", "zone-a"},
                         {"karpenter.sh/capacity-type", "on-demand"}};
    auto record = std::make_shared<scheduling::NodeRecord>();
    record->node = made::NodeBuilder(name).allocatable(4000).build();
    record->claim = std::make_shared<const model::NodeClaim>(std::move(claim));
    record->pods = {
        made::PodBuilder("pod-" + name).on(name).requests(3000).owned_by("web").build()};
    snapshot_->nodes.push_back(std::move(record));
  }

  std::vector<std::string> warnings_after(const json::value& edited) const {
    const Admission admission([&] { return std::make_shared<const ClusterSnapshot>(view_); });
    return warnings_of(admission.validate(update(edited, old_)));
  }
  json::value labelled() const {
    json::value edited = old_;
    edited.at_pointer("/spec/template").as_object()["metadata"] = {{"labels", {{"team", "shop"}}}};
    return edited;
  }
  json::value requiring(const std::string& yaml) const {
    json::value edited = old_;
    edited.at_pointer("/spec/template/spec").as_object()["requirements"] =
        model::parse_yaml(yaml)->at(0);
    return edited;
  }

  ClusterSnapshot view_ = small_cluster();
  std::shared_ptr<scheduling::Snapshot> snapshot_ = std::make_shared<scheduling::Snapshot>();
  json::value old_;
  bool may_preview_ = true;
};

constexpr auto kDrifts = "this drifts 3 of 3 nodes of the NodePool";

TEST_F(Replaced, AnEditThatDriftsNothingSaysNothing) {
  json::value edited = old_;
  edited.at("spec").as_object()["weight"] = 7;
  EXPECT_THAT(warnings_after(edited), Not(Contains(HasSubstr("drifts"))));
}

TEST_F(Replaced, AnEditOfTheTemplateSaysHowManyNodesItReplacesAndForWhatPrice) {
  EXPECT_THAT(warnings_after(labelled()),
              Contains(AllOf(HasSubstr(kDrifts), HasSubstr("the price stays about the same"))));
}

TEST_F(Replaced, DearerNodesAreToldInDollarsAMonth) {
  // One of 8 CPUs for two of the pods, and one for the third, where three of 4 CPUs were.
  const auto edited = requiring("- {key: kubernetes.io/arch, operator: In, values: [arm64]}\n");
  EXPECT_THAT(warnings_after(edited),
              Contains(AllOf(HasSubstr(kDrifts), HasSubstr("; about +292 $/month"))));
}

TEST_F(Replaced, PodsWithoutAPlaceAreCounted) {
  const auto edited =
      requiring("- {key: karpenter.kwok.sh/instance-cpu, operator: In, values: [\"2\"]}\n");
  EXPECT_THAT(
      warnings_after(edited),
      Contains(AllOf(HasSubstr(kDrifts), HasSubstr("3 of their pods would have no place"))));
}

TEST_F(Replaced, WhatDriftedBeforeIsNotThisEditsDoing) {
  for (auto& record : snapshot_->nodes) {
    auto claim = *record->claim;
    claim.conditions.push_back({.type = "Drifted", .status = model::ConditionStatus::True});
    auto changed = std::make_shared<scheduling::NodeRecord>(*record);
    changed->claim = std::make_shared<const model::NodeClaim>(std::move(claim));
    record = std::move(changed);
  }
  EXPECT_THAT(warnings_after(labelled()), Not(Contains(HasSubstr("drifts"))));
}

TEST_F(Replaced, NothingIsSaidWhereTheStateIsNotWholeOrThereIsNoTime) {
  may_preview_ = false;
  EXPECT_THAT(warnings_after(labelled()), Not(Contains(HasSubstr("drifts"))));
  may_preview_ = true;
  snapshot_->synced = false;
  EXPECT_THAT(warnings_after(labelled()), Not(Contains(HasSubstr("drifts"))));
}

// The nodes of the cases are of this class, and made by it as it was.
class ReplacedByClass : public Replaced {
 protected:
  ReplacedByClass() {
    for (auto& record : snapshot_->nodes) {
      auto claim = *record->claim;
      claim.node_class_ref = {.group = "karpenter.k8s.aws", .kind = "EC2NodeClass", .name = "shop"};
      claim.meta.annotations["example.com/hash"] = "as it was";
      claim.meta.annotations["example.com/hash-version"] = "v1";
      auto changed = std::make_shared<scheduling::NodeRecord>(*record);
      changed->claim = std::make_shared<const model::NodeClaim>(std::move(claim));
      record = std::move(changed);
    }
    view_.hash_of = [this](const model::NodeClass& node_class) {
      return std::optional(model::HashStamp{.key = "example.com/hash",
                                            .version_key = "example.com/hash-version",
                                            .hash = node_class.meta.name + hash_,
                                            .version = version_,
                                            .earlier = {}});
    };
  }

  std::vector<std::string> warnings_of_edit(const std::string& name = "shop") const {
    const auto before = model::parse_yaml(R"(
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: )" + name + R"(}
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{id: subnet-0123}]
  securityGroupSelectorTerms: [{id: sg-0123}]
)")
                            ->at(0);
    auto edited = before;
    edited.at("spec").as_object()["tags"] = {{"team", "shop"}};
    const Admission admission([&] { return std::make_shared<const ClusterSnapshot>(view_); });
    return warnings_of(admission.validate(update(edited, before)));
  }

  std::string hash_ = " as it is";
  std::string version_ = "v1";
};

TEST_F(ReplacedByClass, SaysHowManyNodesAndForWhatPrice) {
  EXPECT_THAT(warnings_of_edit(),
              Contains(AllOf(HasSubstr("this drifts 3 of 3 nodes of the NodeClass"),
                             HasSubstr("the price stays about the same"))));
}

TEST_F(ReplacedByClass, NodesOfAnotherClassAreNotItsDoing) {
  EXPECT_THAT(warnings_of_edit("other"), Not(Contains(HasSubstr("drifts"))));
}

TEST_F(ReplacedByClass, HashesOfAnotherVersionSayNothing) {
  version_ = "v2";
  EXPECT_THAT(warnings_of_edit(), Not(Contains(HasSubstr("drifts"))));
}

TEST_F(ReplacedByClass, ACloudThatKnowsNoHashSaysNothing) {
  view_.hash_of = [](const model::NodeClass&) { return std::optional<model::HashStamp>(); };
  EXPECT_THAT(warnings_of_edit(), Not(Contains(HasSubstr("drifts"))));
}

}  // namespace
}  // namespace millwright::webhooks
