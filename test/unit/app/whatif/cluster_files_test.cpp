#include "app/whatif/cluster/cluster_files.hpp"

#include "millwright/model/codec.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::app {
namespace {

using model::text_at;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

base::Result<ClusterFiles> stock_of(const std::string& yaml) {
  return take_stock(read_objects(yaml, "cluster.yaml").value());
}

std::vector<std::string> names_in(const ClusterFiles& files) {
  std::vector<std::string> names;
  for (const auto& each : files.objects) {
    names.push_back(std::string(each.resource->kind) + " " +
                    std::string(text_at(each.object, "metadata.name")));
  }
  return names;
}

std::string problem_with(const std::string& yaml) {
  const auto files = stock_of(yaml);
  EXPECT_FALSE(files);
  return files ? std::string() : files.error().message;
}

TEST(ClusterFiles, ListsAreTakenApartAndTheLastOfANameCounts) {
  const auto files = stock_of(R"(
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: a, labels: {v: "1"}}}
- {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {}}
---
{apiVersion: v1, kind: Node, metadata: {name: a, labels: {v: "2"}}}
---
{apiVersion: example.com/v1, kind: Gadget, metadata: {name: g}}
)");
  ASSERT_TRUE(files) << files.error().message;
  EXPECT_THAT(names_in(*files), ElementsAre("Namespace default", "Node a", "Pod p"));
  EXPECT_EQ(text_at(files->objects[1].object, "metadata.labels.v"), "2");
  EXPECT_THAT(files->notes, ElementsAre("not looked at: 1 Gadget"));
}

TEST(ClusterFiles, JsonIsReadToo) {
  const auto objects = read_objects(
      R"({"apiVersion": "v1", "kind": "NodeList", "items": [{"kind": "Node"}, {"kind": "Node"}]})",
      "a");
  ASSERT_TRUE(objects) << objects.error().message;
  EXPECT_EQ(objects->size(), 2);
}

TEST(ClusterFiles, TheForecastBeginsAtTheNewestTime) {
  const auto files = stock_of(R"(
{apiVersion: v1, kind: Node, metadata: {name: a, creationTimestamp: "2026-01-02T03:04:05Z"},
 status: {conditions: [{type: Ready, lastHeartbeatTime: "2026-01-02T04:00:00Z"}]}}
)");
  ASSERT_TRUE(files) << files.error().message;
  EXPECT_EQ(base::format_rfc3339(files->newest), "2026-01-02T04:00:00Z");
}

TEST(ClusterFiles, WhatIsMissingIsNamedAsKubectlDoes) {
  EXPECT_THAT(problem_with(R"(
{apiVersion: v1, kind: Pod, metadata: {name: p, ownerReferences: [
  {apiVersion: apps/v1, kind: ReplicaSet, name: web-1, uid: u1, controller: true}]}, spec: {}}
)"),
              HasSubstr("Pod default/p belongs to ReplicaSet web-1, which is not in the files; add "
                        "replicasets to `kubectl get`"));
  EXPECT_THAT(problem_with(R"(
{apiVersion: v1, kind: Node, metadata: {name: a, labels: {karpenter.sh/nodepool: default}},
 spec: {providerID: "kwok://a"}}
)"),
              HasSubstr("add nodeclaims"));
  EXPECT_THAT(
      problem_with(R"(
{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: default}, spec: {template: {spec:
  {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: web}}}}}
)"),
      HasSubstr("NodePool default names EC2NodeClass web of karpenter.k8s.aws, which is not "
                "in the files; add ec2nodeclasses.karpenter.k8s.aws"));
  EXPECT_THAT(problem_with("{a: 1}"), HasSubstr("has no apiVersion, kind and metadata.name"));
}

TEST(ClusterFiles, AClassOfAnotherGroupIsNotTheOneThatAPoolNames) {
  const std::string node_class =
      "{apiVersion: karpenter.k8s.alibabacloud/v1alpha1, kind: ECSNodeClass, metadata: {name: "
      "web}}\n---\n";
  const auto pool_of = [](const std::string& group) {
    return "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: default}, spec: "
           "{template: {spec: {nodeClassRef: {group: " +
           group + ", kind: ECSNodeClass, name: web}}}}}";
  };
  EXPECT_TRUE(stock_of(node_class + pool_of("karpenter.k8s.alibabacloud")));
  const std::string official =
      "{apiVersion: karpenter.alibabacloud.com/v1alpha1, kind: ECSNodeClass, metadata: {name: "
      "web}}\n---\n";
  const auto files = stock_of(official + pool_of("karpenter.alibabacloud.com"));
  ASSERT_TRUE(files) << files.error().message;
  EXPECT_THAT(files->clouds, ElementsAre(cloud::Profile::Alibaba));
  EXPECT_THAT(problem_with(node_class + pool_of("karpenter.alibabacloud.com")),
              HasSubstr("add ecsnodeclasses.karpenter.alibabacloud.com to `kubectl get`"));
  EXPECT_THAT(problem_with(node_class + pool_of("example.com")),
              HasSubstr("NodePool default names ECSNodeClass web of example.com, which is not in "
                        "the files; add ecsnodeclasses.example.com to `kubectl get`"));
  EXPECT_THAT(problem_with(node_class + pool_of("''")),
              HasSubstr("NodePool default names no NodeClass: "
                        "spec.template.spec.nodeClassRef.group is missing"));
}

TEST(ClusterFiles, OwnersOfUnknownKindsGetAReplicaSetInTheirPlace) {
  const std::string pod = R"(
{apiVersion: v1, kind: Pod, metadata: {name: NAME, namespace: shop, labels: {app: web},
 ownerReferences: [{apiVersion: apps.kruise.io/v1alpha1, kind: CloneSet, name: web, uid: u1,
 controller: true}]}, spec: {nodeName: a, containers: [{name: main, image: main}]}}
---)";
  const auto named = [&](const std::string& name) {
    auto text = pod;
    return text.replace(text.find("NAME"), 4, name);
  };
  const auto files = stock_of(named("p1") + named("p2"));
  ASSERT_TRUE(files) << files.error().message;
  ASSERT_THAT(names_in(*files),
              ElementsAre("Namespace shop", "Pod p1", "Pod p2", "ReplicaSet cloneset-web"));
  const auto& set = files->objects.back().object;
  EXPECT_EQ(text_at(set, "metadata.uid"), "u1");
  EXPECT_EQ(set.at("spec").at("replicas").as_int64(), 2);
  EXPECT_FALSE(set.at("spec").at("template").at("spec").as_object().contains("nodeName"));
  EXPECT_EQ(files->objects[1].object.at("metadata").at("ownerReferences").at(0).at("kind"),
            "ReplicaSet");
  EXPECT_THAT(files->notes.front(), HasSubstr("pods of shop/web (cloneset, a kind unknown here)"));
}

}  // namespace
}  // namespace millwright::app
