#include "millwright/model/codec.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::model {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kPool = R"({"apiVersion": "karpenter.sh/v1", "kind": "NodePool",
  "metadata": {"name": "default", "generation": 2},
  "spec": {
    "template": {
      "metadata": {"labels": {"team": "a"}, "annotations": {"x": "true"}},
      "spec": {
        "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}],
        "startupTaints": [{"key": "s", "effect": "NoExecute"}],
        "requirements": [
          {"key": "karpenter.k8s.aws/instance-category", "operator": "In",
           "values": ["c", "m"], "minValues": 2},
          {"key": "karpenter.k8s.aws/instance-generation", "operator": "Gt", "values": ["2"]}],
        "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
        "terminationGracePeriod": "48h", "expireAfter": "720h"}},
    "disruption": {"consolidateAfter": "1m", "consolidationPolicy": "WhenEmpty",
      "budgets": [{"nodes": "10%"},
                  {"nodes": "0", "schedule": "0 9 * * mon-fri", "duration": "8h",
                   "reasons": ["Drifted"]}]},
    "limits": {"cpu": "1000", "memory": "1000Gi", "nodes": 5},
    "weight": 10, "replicas": 0},
  "status": {"resources": {"cpu": "4"}, "nodes": 1, "nodeClassObservedGeneration": 3,
    "conditions": [{"type": "Ready", "status": "True", "reason": "Ready", "message": "",
                    "lastTransitionTime": "2026-01-02T03:04:05Z", "observedGeneration": 2}]}})";

TEST(NodePoolCodec, ReadsEveryField) {
  const NodePool pool = decode<NodePool>(parse_json(kPool).value()).value();
  EXPECT_EQ(pool.meta.name, "default");
  const NodeClaimTemplate& claim = pool.template_;
  EXPECT_EQ(claim.labels, (StringMap{{"team", "a"}}));
  EXPECT_EQ(claim.annotations, (StringMap{{"x", "true"}}));
  EXPECT_EQ(claim.taints, (std::vector<Taint>{{"k", "v", "NoSchedule", {}}}));
  EXPECT_EQ(claim.startup_taints, (std::vector<Taint>{{"s", "", "NoExecute", {}}}));
  EXPECT_THAT(
      claim.requirements,
      ElementsAre(
          SelectorRequirement{"karpenter.k8s.aws/instance-category", Operator::In, {"c", "m"}, 2},
          SelectorRequirement{"karpenter.k8s.aws/instance-generation", Operator::Gt, {"2"}, {}}));
  EXPECT_EQ(claim.node_class_ref,
            (NodeClassReference{"karpenter.k8s.aws", "EC2NodeClass", "default"}));
  EXPECT_EQ(claim.termination_grace_period.text, "48h");
  EXPECT_EQ(claim.expire_after.text, "720h");
  EXPECT_EQ(pool.consolidate_after.text, "1m");
  EXPECT_EQ(pool.consolidation_policy, "WhenEmpty");
  EXPECT_THAT(pool.budgets,
              ElementsAre(DisruptionBudget{"10%", {}, "", ""},
                          DisruptionBudget{"0", {"Drifted"}, "0 9 * * mon-fri", "8h"}));
  ASSERT_TRUE(pool.limits);
  EXPECT_EQ(to_string(*pool.limits), "{cpu: 1k, memory: 1000Gi, nodes: 5}");
  EXPECT_EQ(pool.weight, 10);
  EXPECT_EQ(pool.replicas, 0);
  EXPECT_EQ(to_string(pool.resources), "{cpu: 4}");
  EXPECT_EQ(pool.nodes, 1);
  EXPECT_EQ(pool.node_class_observed_generation, 3);
  EXPECT_TRUE(is_true(pool.conditions, kReady));
  EXPECT_EQ(pool.conditions[0].observed_generation, 2);
}

TEST(NodePoolCodec, WhatIsWrittenReadsTheSame) {
  const NodePool pool = decode<NodePool>(parse_json(kPool).value()).value();
  EXPECT_EQ(decode<NodePool>(encode(pool)).value(), pool);
  EXPECT_EQ(decode<NodePool>(encode(NodePool{})).value(), NodePool{});
}

TEST(NodePoolCodec, AnAbsentDisruptionHasTheDefaults) {
  const NodePool pool = decode<NodePool>(parse_json(R"({"spec": {}})").value()).value();
  EXPECT_EQ(pool.consolidate_after.text, "0s");
  EXPECT_EQ(pool.consolidation_policy, "WhenEmptyOrUnderutilized");
  EXPECT_THAT(pool.budgets, ElementsAre(DisruptionBudget{"10%", {}, "", ""}));
  EXPECT_EQ(pool.limits, std::nullopt);
  EXPECT_EQ(pool.replicas, std::nullopt);
  EXPECT_EQ(pool.weight, 0);
}

TEST(NodePoolCodec, EmptyAndAbsentAreKeptApart) {
  const NodePool pool = decode<NodePool>(parse_json(R"({"spec": {"limits": {},
      "disruption": {"budgets": []},
      "template": {"metadata": {"labels": {}}, "spec": {"taints": []}}}})")
                                             .value())
                            .value();
  EXPECT_THAT(pool.budgets, IsEmpty());
  EXPECT_EQ(pool.limits, ResourceList{});
  EXPECT_EQ(pool.template_.labels, StringMap{});
  EXPECT_EQ(pool.template_.annotations, std::nullopt);
  EXPECT_EQ(pool.template_.taints, std::vector<Taint>{});
  EXPECT_EQ(pool.template_.startup_taints, std::nullopt);
  EXPECT_EQ(decode<NodePool>(encode(pool)).value(), pool);
}

TEST(NodePoolCodec, KeepsTheTextOfDurations) {
  for (const std::string text : {"Never", "720h", "43200m", "2592000s", "1h30m"}) {
    const auto pool =
        decode<NodePool>(parse_json(R"({"spec": {"disruption": {"consolidateAfter": ")" + text +
                                    R"("}, "template": {"spec": {"expireAfter": ")" + text +
                                    R"("}}}})")
                             .value())
            .value();
    const auto json = encode(pool);
    EXPECT_EQ(*find_path(json, "spec.disruption.consolidateAfter"), boost::json::value(text));
    EXPECT_EQ(*find_path(json, "spec.template.spec.expireAfter"), boost::json::value(text));
  }
}

TEST(NodePoolCodec, NamesTheFieldThatIsWrong) {
  const auto pool = decode<NodePool>(parse_json(R"({"metadata": {"name": "p"}, "spec": {
      "disruption": {"budgets": [{"nodes": 5}]}}})")
                                         .value());
  ASSERT_FALSE(pool);
  EXPECT_EQ(pool.error().message,
            "NodePool p: spec.disruption.budgets[0].nodes: expected a string, found a number");
}

constexpr std::string_view kClaim = R"({"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
  "metadata": {"name": "default-abcde", "finalizers": ["karpenter.sh/termination"]},
  "spec": {
    "taints": [{"key": "k", "effect": "NoSchedule"}],
    "startupTaints": [{"key": "s", "effect": "NoExecute"}],
    "requirements": [{"key": "zone", "operator": "In", "values": ["a"]}],
    "resources": {"requests": {"cpu": "1500m", "pods": "3"}},
    "nodeClassRef": {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"},
    "terminationGracePeriod": "30s", "expireAfter": "Never"},
  "status": {"nodeName": "n1", "providerID": "sim://1", "imageID": "img",
    "capacity": {"cpu": "4"}, "allocatable": {"cpu": "3900m"},
    "lastPodEventTime": "2026-01-02T03:04:05Z",
    "conditions": [{"type": "Launched", "status": "True", "reason": "Launched", "message": "",
                    "lastTransitionTime": "2026-01-02T03:04:05Z"}]}})";

TEST(NodeClaimCodec, ReadsEveryField) {
  const NodeClaim claim = decode<NodeClaim>(parse_json(kClaim).value()).value();
  EXPECT_TRUE(claim.meta.has_finalizer(kTerminationFinalizer));
  EXPECT_THAT(claim.taints, ElementsAre(Taint{"k", "", "NoSchedule", {}}));
  EXPECT_THAT(claim.startup_taints, ElementsAre(Taint{"s", "", "NoExecute", {}}));
  EXPECT_THAT(claim.requirements,
              ElementsAre(SelectorRequirement{"zone", Operator::In, {"a"}, {}}));
  EXPECT_EQ(to_string(claim.requests), "{cpu: 1500m, pods: 3}");
  EXPECT_EQ(claim.node_class_ref.kind, "KWOKNodeClass");
  EXPECT_EQ(claim.termination_grace_period.text, "30s");
  EXPECT_EQ(claim.expire_after.text, "Never");
  EXPECT_EQ(claim.node_name, "n1");
  EXPECT_EQ(claim.provider_id, "sim://1");
  EXPECT_EQ(claim.image_id, "img");
  EXPECT_EQ(to_string(claim.capacity), "{cpu: 4}");
  EXPECT_EQ(to_string(claim.allocatable), "{cpu: 3900m}");
  EXPECT_EQ(claim.last_pod_event_time, base::parse_rfc3339("2026-01-02T03:04:05Z"));
  EXPECT_TRUE(is_true(claim.conditions, kLaunched));
}

TEST(NodeClaimCodec, WhatIsWrittenReadsTheSame) {
  const NodeClaim claim = decode<NodeClaim>(parse_json(kClaim).value()).value();
  EXPECT_EQ(decode<NodeClaim>(encode(claim)).value(), claim);
  EXPECT_EQ(encode(claim).at("apiVersion"), boost::json::value("karpenter.sh/v1"));
}

TEST(NodeClaimCodec, AnEmptyClaimHasNoStatus) {
  EXPECT_EQ(boost::json::serialize(encode(NodeClaim{.meta = {.generate_name = "p-"}})),
            R"({"apiVersion":"karpenter.sh/v1","kind":"NodeClaim",)"
            R"("metadata":{"generateName":"p-"},"spec":{"requirements":[],)"
            R"("nodeClassRef":{"group":"","kind":"","name":""}}})");
}

TEST(NodeClassCodec, KeepsSpecAndStatusAsTheyAre) {
  NodeClass node_class;
  {
    // Parsed into memory that is gone when the NodeClass is used.
    boost::json::monotonic_resource arena;
    const auto json = boost::json::parse(
        R"({"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass",
            "metadata": {"name": "default"}, "spec": {"role": "r", "tags": {"a": "b"}},
            "status": {"conditions": [{"type": "Ready", "status": "True"}], "amis": [1]}})",
        &arena);
    node_class = decode<NodeClass>(json).value();
  }
  EXPECT_EQ(node_class.meta.name, "default");
  EXPECT_EQ(node_class.api_version, "karpenter.k8s.aws/v1");
  EXPECT_EQ(node_class.kind, "EC2NodeClass");
  EXPECT_EQ(boost::json::serialize(node_class.spec), R"({"role":"r","tags":{"a":"b"}})");
  EXPECT_EQ(node_class.status.at("amis").at(0), boost::json::value(1));
  EXPECT_TRUE(is_true(node_class.conditions, kReady));
}

TEST(NodeClassCodec, NamesItsOwnKindInErrors) {
  const auto wrong = decode<NodeClass>(
      parse_json(R"({"kind": "EC2NodeClass", "metadata": {"name": "d", "labels": 1}})").value());
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message,
            "EC2NodeClass d: metadata.labels: expected an object, found a number");
}

}  // namespace
}  // namespace millwright::model
