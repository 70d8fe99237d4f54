#include "millwright/model/codec.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Every field that the model reads, and some that it does not.
constexpr std::string_view kFullPod = R"({
  "apiVersion": "v1", "kind": "Pod",
  "metadata": {
    "name": "web-1", "generateName": "web-", "namespace": "default", "uid": "u-1",
    "resourceVersion": "42", "generation": 3, "creationTimestamp": "2026-01-02T03:04:05Z",
    "deletionTimestamp": "2026-01-02T04:04:05Z", "deletionGracePeriodSeconds": 30,
    "labels": {"app": "web"}, "annotations": {"karpenter.sh/do-not-disrupt": "true"},
    "finalizers": ["example.com/f"], "managedFields": [{"manager": "kubectl"}],
    "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web",
                         "uid": "u-0", "controller": true, "blockOwnerDeletion": true}]
  },
  "spec": {
    "nodeName": "n1", "schedulerName": "default-scheduler", "nodeSelector": {"disk": "ssd"},
    "serviceAccountName": "unknown here",
    "affinity": {
      "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
          {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}],
           "matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["n2"]}]}]},
        "preferredDuringSchedulingIgnoredDuringExecution": [
          {"weight": 7, "preference": {"matchExpressions": [{"key": "x", "operator": "Exists"}]}}]
      },
      "podAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
          {"labelSelector": {"matchLabels": {"app": "db"}}, "namespaces": ["ns1"],
           "topologyKey": "zone", "matchLabelKeys": ["pod-template-hash"],
           "mismatchLabelKeys": ["tenant"]}],
        "preferredDuringSchedulingIgnoredDuringExecution": [
          {"weight": 9, "podAffinityTerm": {"namespaceSelector": {}, "topologyKey": "host"}}]
      },
      "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
          {"labelSelector": {}, "topologyKey": "kubernetes.io/hostname"}],
        "preferredDuringSchedulingIgnoredDuringExecution": [
          {"weight": 1, "podAffinityTerm": {
            "labelSelector": {"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]},
            "topologyKey": "zone"}}]
      }
    },
    "tolerations": [{"key": "k", "operator": "Equal", "value": "v", "effect": "NoExecute",
                     "tolerationSeconds": 300}, {"operator": "Exists"}],
    "topologySpreadConstraints": [
      {"maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
       "labelSelector": {"matchLabels": {"app": "web"}}, "minDomains": 3,
       "nodeAffinityPolicy": "Ignore", "nodeTaintsPolicy": "Honor",
       "matchLabelKeys": ["pod-template-hash"]}],
    "containers": [
      {"name": "main", "image": "web:1", "resources": {
         "requests": {"cpu": "250m", "memory": "64Mi"}, "limits": {"cpu": 1, "memory": "128Mi"}},
       "ports": [{"containerPort": 80, "hostPort": 8080, "hostIP": "10.0.0.1", "protocol": "UDP"},
                 {"containerPort": 81}],
       "restartPolicy": "Never"}],
    "initContainers": [
      {"name": "sidecar", "image": "proxy", "restartPolicy": "Always",
       "resources": {"requests": {"cpu": 0.1}}},
      {"name": "setup"}],
    "overhead": {"cpu": "10m"},
    "resources": {"requests": {"cpu": "2"}, "limits": {"memory": "1Gi"}},
    "volumes": [
      {"name": "data", "persistentVolumeClaim": {"claimName": "pvc-1"}},
      {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {
         "spec": {"storageClassName": "fast", "accessModes": ["ReadWriteOnce"]}}}},
      {"name": "config", "configMap": {"name": "c"}}],
    "resourceClaims": [{"name": "gpu", "resourceClaimName": "c1"}],
    "schedulingGates": [{"name": "example.com/wait"}],
    "priorityClassName": "high", "priority": 1000, "preemptionPolicy": "Never",
    "restartPolicy": "Always", "terminationGracePeriodSeconds": 0
  },
  "status": {
    "phase": "Pending", "nominatedNodeName": "n9", "startTime": "2026-01-02T03:04:06Z",
    "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                    "message": "0/3 nodes", "lastProbeTime": null,
                    "lastTransitionTime": "2026-01-02T03:04:05Z"}],
    "containerStatuses": [{"name": "main", "ready": true, "allocatedResources": {"cpu": "200m"},
                           "resources": {"requests": {"cpu": "150m"}}}],
    "initContainerStatuses": [{"name": "sidecar", "allocatedResources": {"cpu": "100m"}}],
    "resize": "Infeasible"
  }
})";

boost::json::value full_pod() {
  return parse_json(kFullPod).value();
}

Quantity quantity(std::string_view text) {
  return Quantity::parse(text).value();
}

TEST(PodCodec, ReadsMetadata) {
  const Pod pod = decode<Pod>(full_pod()).value();
  EXPECT_EQ(pod.meta.name, "web-1");
  EXPECT_EQ(pod.meta.generate_name, "web-");
  EXPECT_EQ(pod.meta.namespace_, "default");
  EXPECT_EQ(pod.meta.uid, "u-1");
  EXPECT_EQ(pod.meta.resource_version, "42");
  EXPECT_EQ(pod.meta.generation, 3);
  EXPECT_EQ(pod.meta.creation_timestamp, base::parse_rfc3339("2026-01-02T03:04:05Z"));
  EXPECT_EQ(pod.meta.deletion_timestamp, base::parse_rfc3339("2026-01-02T04:04:05Z"));
  EXPECT_EQ(pod.meta.deletion_grace_period_seconds, 30);
  EXPECT_EQ(pod.meta.labels, (StringMap{{"app", "web"}}));
  EXPECT_EQ(pod.meta.annotation(kDoNotDisruptAnnotation), "true");
  EXPECT_THAT(pod.meta.finalizers, ElementsAre("example.com/f"));
  EXPECT_THAT(pod.meta.owner_references,
              ElementsAre(OwnerReference{"apps/v1", "ReplicaSet", "web", "u-0", true, true}));
}

TEST(PodCodec, ReadsAffinity) {
  const Affinity affinity = decode<Pod>(full_pod()).value().spec.affinity;
  EXPECT_THAT(affinity.required_node_terms,
              ElementsAre(NodeSelectorTerm{{{"zone", Operator::In, {"a", "b"}}},
                                           {{"metadata.name", Operator::NotIn, {"n2"}}}}));
  EXPECT_THAT(affinity.preferred_node_terms,
              ElementsAre(PreferredNodeTerm{7, {{{"x", Operator::Exists, {}}}, {}}}));
  ASSERT_EQ(affinity.required_pod_affinity.size(), 1);
  const PodAffinityTerm& term = affinity.required_pod_affinity[0];
  EXPECT_EQ(term.label_selector, (LabelSelector{{{"app", "db"}}, {}}));
  EXPECT_THAT(term.namespaces, ElementsAre("ns1"));
  EXPECT_EQ(term.namespace_selector, std::nullopt);
  EXPECT_EQ(term.topology_key, "zone");
  EXPECT_THAT(term.match_label_keys, ElementsAre("pod-template-hash"));
  EXPECT_THAT(term.mismatch_label_keys, ElementsAre("tenant"));
  ASSERT_EQ(affinity.preferred_pod_affinity.size(), 1);
  EXPECT_EQ(affinity.preferred_pod_affinity[0].weight, 9);
  EXPECT_EQ(affinity.preferred_pod_affinity[0].term.label_selector, std::nullopt);
  EXPECT_EQ(affinity.preferred_pod_affinity[0].term.namespace_selector, LabelSelector{});
  ASSERT_EQ(affinity.required_pod_anti_affinity.size(), 1);
  EXPECT_EQ(affinity.required_pod_anti_affinity[0].label_selector, LabelSelector{});
  ASSERT_EQ(affinity.preferred_pod_anti_affinity.size(), 1);
  EXPECT_EQ(affinity.preferred_pod_anti_affinity[0].term.label_selector->match_expressions[0].op,
            Operator::DoesNotExist);
}

TEST(PodCodec, ReadsContainersAndResources) {
  const PodSpec spec = decode<Pod>(full_pod()).value().spec;
  ASSERT_EQ(spec.containers.size(), 1);
  const Container& main = spec.containers[0];
  EXPECT_EQ(main.name, "main");
  EXPECT_EQ(main.image, "web:1");
  EXPECT_EQ(main.requests, (ResourceList{{"cpu", quantity("250m")}, {"memory", quantity("64Mi")}}));
  EXPECT_EQ(main.limits, (ResourceList{{"cpu", quantity("1")}, {"memory", quantity("128Mi")}}));
  EXPECT_THAT(main.ports, ElementsAre(ContainerPort{80, 8080, "10.0.0.1", "UDP"},
                                      ContainerPort{81, 0, "", "TCP"}));
  EXPECT_FALSE(main.restart_always);
  ASSERT_EQ(spec.init_containers.size(), 2);
  EXPECT_TRUE(spec.init_containers[0].restart_always);
  EXPECT_EQ(spec.init_containers[0].requests.at("cpu"), quantity("100m"));
  EXPECT_FALSE(spec.init_containers[1].restart_always);
  EXPECT_EQ(spec.overhead, (ResourceList{{"cpu", quantity("10m")}}));
  EXPECT_EQ(spec.pod_requests, (ResourceList{{"cpu", quantity("2")}}));
  EXPECT_EQ(spec.pod_limits, (ResourceList{{"memory", quantity("1Gi")}}));
}

TEST(PodCodec, ReadsTheRestOfTheSpec) {
  const PodSpec spec = decode<Pod>(full_pod()).value().spec;
  EXPECT_EQ(spec.node_name, "n1");
  EXPECT_EQ(spec.scheduler_name, "default-scheduler");
  EXPECT_EQ(spec.node_selector, (StringMap{{"disk", "ssd"}}));
  EXPECT_THAT(spec.tolerations, ElementsAre(Toleration{"k", "Equal", "v", "NoExecute", 300},
                                            Toleration{"", "Exists", "", "", std::nullopt}));
  EXPECT_THAT(spec.topology_spread,
              ElementsAre(TopologySpreadConstraint{2,
                                                   "zone",
                                                   "DoNotSchedule",
                                                   LabelSelector{{{"app", "web"}}, {}},
                                                   3,
                                                   "Ignore",
                                                   "Honor",
                                                   {"pod-template-hash"}}));
  EXPECT_THAT(spec.volumes, ElementsAre(PodVolume{"data", "pvc-1", false, ""},
                                        PodVolume{"scratch", "", true, "fast"},
                                        PodVolume{"config", "", false, ""}));
  EXPECT_THAT(spec.resource_claims, ElementsAre(PodResourceClaim{"gpu", "c1", ""}));
  EXPECT_THAT(spec.scheduling_gates, ElementsAre("example.com/wait"));
  EXPECT_EQ(spec.priority_class_name, "high");
  EXPECT_EQ(spec.priority, 1000);
  EXPECT_EQ(spec.preemption_policy, "Never");
  EXPECT_EQ(spec.restart_policy, "Always");
  EXPECT_EQ(spec.termination_grace_period_seconds, 0);
}

TEST(PodCodec, ReadsStatus) {
  const PodStatus status = decode<Pod>(full_pod()).value().status;
  EXPECT_EQ(status.phase, "Pending");
  EXPECT_EQ(status.nominated_node_name, "n9");
  EXPECT_EQ(status.start_time, base::parse_rfc3339("2026-01-02T03:04:06Z"));
  ASSERT_EQ(status.conditions.size(), 1);
  EXPECT_EQ(status.conditions[0].status, ConditionStatus::False);
  EXPECT_EQ(status.conditions[0].reason, "Unschedulable");
  EXPECT_EQ(status.conditions[0].last_transition_time, base::parse_rfc3339("2026-01-02T03:04:05Z"));
  EXPECT_THAT(
      status.container_statuses,
      ElementsAre(
          ContainerResourceStatus{"main", {{"cpu", quantity("200m")}}, {{"cpu", quantity("150m")}}},
          ContainerResourceStatus{"sidecar", {{"cpu", quantity("100m")}}, {}}));
  EXPECT_EQ(status.resize, "Infeasible");
}

TEST(PodCodec, ReadsAPendingResizeFromItsCondition) {
  const auto pod = decode<Pod>(parse_json(R"({"status": {"conditions": [
      {"type": "PodResizePending", "status": "True", "reason": "Deferred"}]}})")
                                   .value());
  EXPECT_EQ(pod.value().status.resize, "Deferred");
}

TEST(PodCodec, WhatIsWrittenReadsTheSame) {
  const Pod pod = decode<Pod>(full_pod()).value();
  EXPECT_EQ(decode<Pod>(encode(pod)).value(), pod);
}

TEST(PodCodec, AnEmptyPodIsShort) {
  EXPECT_EQ(boost::json::serialize(encode(Pod{})),
            R"({"apiVersion":"v1","kind":"Pod","metadata":{},"spec":{"containers":[]}})");
  EXPECT_EQ(decode<Pod>(encode(Pod{})).value(), Pod{});
}

TEST(PodCodec, NullAndAbsentAreTheSame) {
  const auto pod = decode<Pod>(parse_json(R"({"metadata": null, "spec": {"nodeName": null,
      "containers": null, "affinity": {"nodeAffinity": null}, "nodeSelector": {"a": null}},
      "status": null})")
                                   .value());
  ASSERT_TRUE(pod) << pod.error().message;
  EXPECT_EQ(pod->spec.node_selector, (StringMap{{"a", ""}}));
  EXPECT_TRUE(pod->spec.containers.empty());
}

struct Wrong {
  const char* json;
  const char* message;
};
class WrongPod : public testing::TestWithParam<Wrong> {};
TEST_P(WrongPod, IsInvalidAndTheMessageNamesObjectAndField) {
  const auto pod = decode<Pod>(parse_json(GetParam().json).value());
  ASSERT_FALSE(pod);
  EXPECT_EQ(pod.error().kind, base::ErrorKind::Invalid);
  EXPECT_THAT(pod.error().message, testing::StartsWith(GetParam().message));
}
INSTANTIATE_TEST_SUITE_P(
    Fields, WrongPod,
    testing::Values(
        Wrong{
            R"({"metadata":{"name":"web","namespace":"default"},
                  "spec":{"containers":[{"resources":{"requests":{"cpu":"x"}}}]}})",
            "Pod default/web: spec.containers[0].resources.requests.cpu: \"x\" is not a quantity"},
        Wrong{R"({"metadata":{"generateName":"web-"},"spec":{"priority":"high"}})",
              "Pod web-: spec.priority: expected an integer, found a string"},
        Wrong{R"({"spec":{"priority":3000000000}})",
              "Pod: spec.priority: the number does not fit in 32 bits"},
        Wrong{R"({"spec":{"priority":1.5}})", "Pod: spec.priority: expected an integer"},
        Wrong{R"({"metadata":{"generation":18446744073709551615}})",
              "Pod: metadata.generation: the number does not fit in 64 bits"},
        Wrong{R"({"metadata":{"labels":{"example.com/team":5}}})",
              "Pod: metadata.labels[example.com/team]: expected a string, found a number"},
        Wrong{R"({"metadata":{"creationTimestamp":"yesterday"}})",
              "Pod: metadata.creationTimestamp: \"yesterday\" is not a time"},
        Wrong{R"({"metadata":{"finalizers":["a",null]}})",
              "Pod: metadata.finalizers[1]: expected a string, found null"},
        Wrong{R"({"spec":[]})", "Pod: spec: expected an object, found a list"},
        Wrong{R"({"spec":{"containers":{}}})",
              "Pod: spec.containers: expected a list, found an object"},
        Wrong{R"({"spec":{"containers":["a"]}})",
              "Pod: spec.containers[0]: expected an object, found a string"},
        Wrong{R"({"spec":{"schedulingGates":{"name":"x"}}})",
              "Pod: spec.schedulingGates: expected a list, found an object"},
        Wrong{R"({"spec":{"containers":[{"resources":{"limits":{"cpu":true}}}]}})",
              "Pod: spec.containers[0].resources.limits.cpu: expected a quantity, found true"},
        Wrong{R"({"spec":{"affinity":{"nodeAffinity":{
                   "requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
                     {"matchExpressions":[{"key":"a","operator":"in"}]}]}}}}})",
              "Pod: spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
              "nodeSelectorTerms[0].matchExpressions[0].operator: \"in\" is not an operator"},
        Wrong{R"({"kind":"Node"})", "Pod: kind: expected Pod, found \"Node\""},
        Wrong{R"([])", "Pod: expected an object, found a list"},
        Wrong{R"("x")", "Pod: expected an object, found a string"}));

// Replaces every value of the document in turn by one of another type.
void replace_each(boost::json::value& document, boost::json::value& at,
                  const boost::json::value& by, int* refused) {
  const boost::json::value original = std::exchange(at, by);
  const auto pod = decode<Pod>(document);
  if (pod) {
    // What was accepted can be written and read again.
    EXPECT_EQ(decode<Pod>(encode(*pod)).value(), *pod);
  } else {
    EXPECT_EQ(pod.error().kind, base::ErrorKind::Invalid);
    ++*refused;
  }
  at = original;
  if (auto* const object = at.if_object()) {
    for (auto& entry : *object) {
      replace_each(document, entry.value(), by, refused);
    }
  } else if (auto* const list = at.if_array()) {
    for (auto& item : *list) {
      replace_each(document, item, by, refused);
    }
  }
}

TEST(PodCodec, NoWrongTypeAnywhereCrashesIt) {
  boost::json::value document = full_pod();
  for (const std::string_view text : {"null", "7", "-1.5", "\"x\"", "[]", "{}", "true", "[[]]"}) {
    int refused = 0;
    replace_each(document, document, parse_json(text).value(), &refused);
    EXPECT_GT(refused, 0) << text;
  }
  EXPECT_TRUE(decode<Pod>(document));
}

TEST(PodTemplateCodec, ReadsLabelsAnnotationsAndSpec) {
  const auto pod_template = decode_pod_template(parse_json(R"({"metadata": {"labels": {"a": "b"},
          "annotations": {"c": "d"}}, "spec": {"containers": [{"name": "x"}]}})")
                                                    .value());
  ASSERT_TRUE(pod_template);
  EXPECT_EQ(pod_template->labels.at("a"), "b");
  EXPECT_EQ(pod_template->annotations.at("c"), "d");
  EXPECT_EQ(pod_template->spec.containers[0].name, "x");
  const auto wrong = decode_pod_template(parse_json(R"({"spec": 1})").value());
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("pod template: spec: expected an object"));
}

}  // namespace
}  // namespace millwright::model
