// Metadata, kinds and what can be told from an object alone.
#include "millwright/model/core.hpp"
#include "millwright/model/karpenter.hpp"
#include "millwright/model/kinds.hpp"

#include <gtest/gtest.h>

#include <set>

namespace millwright::model {
namespace {

using namespace std::chrono_literals;

TEST(ObjectMeta, LooksUpLabelsAnnotationsFinalizersAndItsController) {
  ObjectMeta meta{.name = "n", .namespace_ = "ns"};
  meta.labels = {{"a", "1"}};
  meta.annotations = {{"b", "2"}};
  meta.finalizers = {"x"};
  meta.owner_references = {{.kind = "A"}, {.kind = "B", .controller = true}};
  EXPECT_EQ(meta.label("a"), "1");
  EXPECT_EQ(meta.label("b"), "");
  EXPECT_EQ(meta.annotation("b"), "2");
  EXPECT_EQ(meta.annotation("a"), "");
  EXPECT_TRUE(meta.has_finalizer("x"));
  EXPECT_FALSE(meta.has_finalizer("y"));
  ASSERT_NE(meta.controller(), nullptr);
  EXPECT_EQ(meta.controller()->kind, "B");
  EXPECT_EQ(ObjectMeta{}.controller(), nullptr);
  EXPECT_FALSE(meta.is_deleting());
  meta.deletion_timestamp = base::TimePoint();
  EXPECT_TRUE(meta.is_deleting());
  EXPECT_EQ(key_of(meta).to_string(), "ns/n");
  EXPECT_EQ(key_of({.name = "n"}).to_string(), "n");
}

TEST(Conditions, AreFoundByType) {
  const std::vector<Condition> conditions{{.type = "A", .status = ConditionStatus::False},
                                          {.type = "B", .status = ConditionStatus::True}};
  EXPECT_TRUE(is_true(conditions, "B"));
  EXPECT_FALSE(is_true(conditions, "A"));
  EXPECT_FALSE(is_true(conditions, "C"));
  EXPECT_EQ(find_condition(conditions, "A"), &conditions[0]);
  EXPECT_EQ(find_condition(conditions, "C"), nullptr);
}

TEST(Resources, BuildTheirPaths) {
  EXPECT_EQ(kPodResource.path("default", "web-1", "eviction"),
            "/api/v1/namespaces/default/pods/web-1/eviction");
  EXPECT_EQ(kPodResource.path("default"), "/api/v1/namespaces/default/pods");
  EXPECT_EQ(kPodResource.path(), "/api/v1/pods");
  EXPECT_EQ(kNodeResource.path("", "n1", "status"), "/api/v1/nodes/n1/status");
  EXPECT_EQ(kNamespaceResource.path("ignored", "a"), "/api/v1/namespaces/a");
  EXPECT_EQ(kNodePoolResource.path("", "p"), "/apis/karpenter.sh/v1/nodepools/p");
  EXPECT_EQ(kLeaseResource.path("kube-system", "l"),
            "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/l");
  EXPECT_EQ(kPodResource.api_version(), "v1");
  EXPECT_EQ(kNodePoolResource.api_version(), "karpenter.sh/v1");
}

TEST(Resources, AreFoundByKindAndHavePathsOfTheirOwn) {
  std::set<std::string> paths;
  for (const Resource& resource : all_resources()) {
    EXPECT_TRUE(paths.insert(resource.path()).second) << resource.path();
    EXPECT_EQ(find_by_kind(resource.api_version(), resource.kind), &resource);
  }
  EXPECT_EQ(find_by_kind("karpenter.sh/v1beta1", "NodePool"), nullptr);
  EXPECT_EQ(find_by_kind("v1", "Unknown"), nullptr);
  EXPECT_EQ(node_class_resources().size(), 5);
  for (const Resource& resource : node_class_resources()) {
    EXPECT_TRUE(resource.kind.ends_with("NodeClass"));
    EXPECT_NE(find_by_kind(resource.api_version(), resource.kind), nullptr);
  }
}

TEST(Pods, TellTheirOwnersAndState) {
  Pod pod;
  EXPECT_FALSE(is_owned_by_daemonset(pod));
  pod.meta.owner_references = {{.api_version = "apps/v1", .kind = "DaemonSet"}};
  EXPECT_TRUE(is_owned_by_daemonset(pod));
  EXPECT_FALSE(is_mirror(pod));
  pod.meta.owner_references = {{.api_version = "example.com/v1", .kind = "DaemonSet"}};
  EXPECT_FALSE(is_owned_by_daemonset(pod));
  pod.meta.owner_references = {{.api_version = "v1", .kind = "Node"}};
  EXPECT_TRUE(is_mirror(pod));

  for (const auto& [phase, terminal] : {std::pair{"Pending", false}, std::pair{"Running", false},
                                        std::pair{"Succeeded", true}, std::pair{"Failed", true}}) {
    pod.status.phase = phase;
    EXPECT_EQ(is_terminal(pod), terminal) << phase;
  }

  EXPECT_FALSE(is_reported_unschedulable(pod));
  pod.status.conditions = {{.type = "PodScheduled", .reason = "SchedulingGated"}};
  EXPECT_FALSE(is_reported_unschedulable(pod));
  pod.status.conditions = {{.type = "PodScheduled", .reason = "Unschedulable"}};
  EXPECT_TRUE(is_reported_unschedulable(pod));
}

TEST(Nodes, AreReadyWhenTheConditionIsTrue) {
  Node node;
  EXPECT_FALSE(is_ready(node));
  node.conditions = {{.type = "Ready", .status = ConditionStatus::Unknown}};
  EXPECT_FALSE(is_ready(node));
  node.conditions[0].status = ConditionStatus::True;
  EXPECT_TRUE(is_ready(node));
}

TEST(NillableDurations, HaveNoValueWhenAbsentNeverOrUnreadable) {
  EXPECT_EQ(NillableDuration{"720h"}.value(), 720h);
  EXPECT_EQ(NillableDuration{"0s"}.value(), 0s);
  EXPECT_EQ(NillableDuration{"Never"}.value(), std::nullopt);
  EXPECT_EQ(NillableDuration{""}.value(), std::nullopt);
  EXPECT_EQ(NillableDuration{"soon"}.value(), std::nullopt);
}

TEST(NodeClassReferences, NameTheirLabel) {
  EXPECT_EQ((NodeClassReference{"karpenter.k8s.aws", "EC2NodeClass", "default"}).label_key(),
            "karpenter.k8s.aws/ec2nodeclass");
}

TEST(NodeClassReference, NamesAClassByGroupKindAndNameInWhateverVersion) {
  NodeClass node_class{.api_version = "karpenter.k8s.aws/v1", .kind = "EC2NodeClass"};
  node_class.meta.name = "default";
  const NodeClassReference reference = reference_to(node_class);
  EXPECT_EQ(reference.text(), "EC2NodeClass.karpenter.k8s.aws/default");
  node_class.api_version = "karpenter.k8s.aws/v1beta1";
  EXPECT_EQ(reference_to(node_class), reference);
  node_class.api_version = "example.com/v1";
  EXPECT_NE(reference_to(node_class), reference);
}

TEST(NodeClassReference, WithoutAGroupItIsOfNoResource) {
  NodeClassReference reference{
      .group = "karpenter.k8s.aws", .kind = "EC2NodeClass", .name = "default"};
  EXPECT_TRUE(reference.is_of(kEc2NodeClassResource));
  EXPECT_FALSE(reference.is_of(kEcsNodeClassResource));
  reference.group.clear();
  EXPECT_FALSE(reference.is_of(kEc2NodeClassResource));
}

TEST(ApiGroup, IsWhatStandsBeforeTheVersion) {
  EXPECT_EQ(api_group("karpenter.sh/v1"), "karpenter.sh");
  EXPECT_EQ(api_group("v1"), "");
}

}  // namespace
}  // namespace millwright::model
