#include "millwright/model/codec.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <class T>
T read(std::string_view text) {
  auto decoded = decode<T>(parse_json(text).value());
  EXPECT_TRUE(decoded) << decoded.error().message;
  return std::move(*decoded);
}

constexpr std::string_view kNode = R"({"apiVersion": "v1", "kind": "Node",
  "metadata": {"name": "n1", "labels": {"zone": "a"}, "creationTimestamp": "2026-01-02T03:04:05Z"},
  "spec": {"providerID": "sim://n1", "unschedulable": true, "podCIDR": "10.0.0.0/24",
    "taints": [{"key": "k", "value": "v", "effect": "NoSchedule",
                "timeAdded": "2026-01-02T03:04:06Z"}, {"key": "l", "effect": "NoExecute"}]},
  "status": {"capacity": {"cpu": "4", "memory": "16Gi"}, "allocatable": {"cpu": "3920m"},
    "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady",
                    "lastHeartbeatTime": "2026-01-02T03:05:00Z",
                    "lastTransitionTime": "2026-01-02T03:04:30Z"},
                   {"type": "Odd", "status": "Perhaps"}],
    "images": []}})";

TEST(NodeCodec, ReadsAndWrites) {
  const Node node = read<Node>(kNode);
  EXPECT_EQ(node.meta.name, "n1");
  EXPECT_EQ(node.provider_id, "sim://n1");
  EXPECT_TRUE(node.unschedulable);
  EXPECT_THAT(node.taints, ElementsAre(Taint{"k", "v", "NoSchedule",
                                             base::parse_rfc3339("2026-01-02T03:04:06Z")},
                                       Taint{"l", "", "NoExecute", std::nullopt}));
  EXPECT_EQ(to_string(node.capacity), "{cpu: 4, memory: 16Gi}");
  EXPECT_EQ(to_string(node.allocatable), "{cpu: 3920m}");
  EXPECT_TRUE(is_ready(node));
  EXPECT_EQ(node.conditions[0].last_heartbeat_time, base::parse_rfc3339("2026-01-02T03:05:00Z"));
  EXPECT_EQ(node.conditions[1].status, ConditionStatus::Unknown);
  EXPECT_EQ(decode<Node>(encode(node)).value(), node);
}

TEST(NodeCodec, AnEmptyNodeHasNoStatus) {
  EXPECT_EQ(boost::json::serialize(encode(Node{.meta = {.name = "n"}})),
            R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"spec":{}})");
}

TEST(VolumeCodecs, ReadClaims) {
  const auto claim = read<PersistentVolumeClaim>(R"({"kind": "PersistentVolumeClaim",
    "metadata": {"name": "c", "namespace": "d"},
    "spec": {"volumeName": "pv", "storageClassName": "fast", "accessModes": ["ReadWriteOncePod"]},
    "status": {"phase": "Bound"}})");
  EXPECT_EQ(claim.meta.name, "c");
  EXPECT_EQ(claim.volume_name, "pv");
  EXPECT_EQ(claim.storage_class, "fast");
  EXPECT_THAT(claim.access_modes, ElementsAre("ReadWriteOncePod"));
  EXPECT_EQ(claim.phase, "Bound");
  EXPECT_EQ(read<PersistentVolumeClaim>("{}"), PersistentVolumeClaim{});
}

TEST(VolumeCodecs, ReadVolumes) {
  const auto volume = read<PersistentVolume>(R"({"metadata": {"name": "pv"}, "spec": {
    "csi": {"driver": "ebs.csi.aws.com", "volumeHandle": "vol-1"}, "storageClassName": "fast",
    "nodeAffinity": {"required": {"nodeSelectorTerms": [
      {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]}}}})");
  EXPECT_EQ(volume.csi_driver, "ebs.csi.aws.com");
  EXPECT_EQ(volume.storage_class, "fast");
  EXPECT_FALSE(volume.local_or_host_path);
  EXPECT_THAT(volume.required_node_terms,
              ElementsAre(NodeSelectorTerm{{{"zone", Operator::In, {"a"}}}, {}}));
  EXPECT_TRUE(read<PersistentVolume>(R"({"spec": {"local": {"path": "/d"}}})").local_or_host_path);
  EXPECT_TRUE(
      read<PersistentVolume>(R"({"spec": {"hostPath": {"path": "/d"}}})").local_or_host_path);
  EXPECT_EQ(
      read<PersistentVolume>(R"({"spec": {"awsElasticBlockStore": {"volumeID": "v"}}})").csi_driver,
      "ebs.csi.aws.com");
}

TEST(VolumeCodecs, ReadStorageClasses) {
  const auto storage_class = read<StorageClass>(R"({"metadata": {"name": "fast"},
    "provisioner": "ebs.csi.aws.com", "volumeBindingMode": "WaitForFirstConsumer",
    "allowedTopologies": [
      {"matchLabelExpressions": [{"key": "zone", "values": ["a", "b"]}]},
      {"matchLabelExpressions": [{"key": "rack", "values": ["1"]}]}]})");
  EXPECT_EQ(storage_class.provisioner, "ebs.csi.aws.com");
  EXPECT_EQ(storage_class.volume_binding_mode, "WaitForFirstConsumer");
  EXPECT_THAT(storage_class.allowed_topologies,
              ElementsAre(NodeSelectorTerm{{{"zone", Operator::In, {"a", "b"}}}, {}},
                          NodeSelectorTerm{{{"rack", Operator::In, {"1"}}}, {}}));
}

TEST(VolumeCodecs, ReadDriversAndAttachments) {
  const auto csi_node = read<CSINode>(R"({"metadata": {"name": "n1"}, "spec": {"drivers": [
    {"name": "a", "nodeID": "i", "allocatable": {"count": 25}}, {"name": "b"}]}})");
  EXPECT_THAT(csi_node.drivers, ElementsAre(CSINodeDriver{"a", 25}, CSINodeDriver{"b", {}}));
  const auto attachment = read<VolumeAttachment>(R"({"metadata": {"name": "x"}, "spec": {
    "nodeName": "n1", "attacher": "a", "source": {"persistentVolumeName": "pv"}}})");
  EXPECT_EQ(attachment.node_name, "n1");
  EXPECT_EQ(attachment.persistent_volume_name, "pv");
}

TEST(PodDisruptionBudgetCodec, ReadsIntegersAndPercentages) {
  const auto budget = read<PodDisruptionBudget>(R"({"metadata": {"name": "b", "namespace": "d"},
    "spec": {"selector": {"matchLabels": {"a": "b"}}, "minAvailable": 2,
             "unhealthyPodEvictionPolicy": "AlwaysAllow"},
    "status": {"disruptionsAllowed": 1, "observedGeneration": 4}})");
  EXPECT_EQ(budget.selector, (LabelSelector{{{"a", "b"}}, {}}));
  EXPECT_EQ(budget.min_available, "2");
  EXPECT_EQ(budget.max_unavailable, "");
  EXPECT_EQ(budget.unhealthy_pod_eviction_policy, "AlwaysAllow");
  EXPECT_EQ(budget.disruptions_allowed, 1);
  EXPECT_EQ(budget.observed_generation, 4);
  const auto percent = read<PodDisruptionBudget>(R"({"spec": {"maxUnavailable": "25%"}})");
  EXPECT_EQ(percent.max_unavailable, "25%");
  EXPECT_EQ(percent.selector, std::nullopt);
  const auto wrong =
      decode<PodDisruptionBudget>(parse_json(R"({"spec": {"maxUnavailable": 0.5}})").value());
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message,
              HasSubstr("spec.maxUnavailable: expected an integer or a string"));
}

TEST(WorkloadCodecs, ReadDaemonSetsAndNamespaces) {
  const auto daemon = read<DaemonSet>(R"({"metadata": {"name": "ds"}, "spec": {
    "selector": {"matchLabels": {"a": "b"}},
    "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [
      {"name": "c", "resources": {"requests": {"cpu": "10m"}}}]}}}})");
  EXPECT_EQ(daemon.selector.match_labels.at("a"), "b");
  EXPECT_EQ(daemon.pod_template.labels.at("a"), "b");
  EXPECT_EQ(to_string(daemon.pod_template.spec.containers[0].requests), "{cpu: 10m}");
  EXPECT_EQ(read<Namespace>(R"({"kind": "Namespace", "metadata": {"name": "d",
    "labels": {"x": "y"}}})")
                .meta.labels.at("x"),
            "y");
}

TEST(MetaCodec, ReadsTheMetadataOfAnyObject) {
  const auto meta = decode_meta(parse_json(R"({"metadata": {"name": "a"}, "x": 1})").value());
  EXPECT_EQ(meta.value().name, "a");
  EXPECT_EQ(decode_meta(parse_json("{}").value()).value(), ObjectMeta{});
  EXPECT_FALSE(decode_meta(parse_json("[]").value()));
  EXPECT_FALSE(decode_meta(parse_json(R"({"metadata": {"name": 1}})").value()));
}

TEST(MetaCodec, TakesGosZeroTimeForAbsent) {
  const auto meta = decode_meta(
      parse_json(R"({"metadata": {"creationTimestamp": "0001-01-01T00:00:00Z"}})").value());
  EXPECT_EQ(meta.value().creation_timestamp, std::nullopt);
}

TEST(LabelSelectorCodec, ReadsAndWrites) {
  const auto json = parse_json(R"({"matchLabels": {"a": "b"}, "matchExpressions": [
                     {"key": "c", "operator": "NotIn", "values": ["d"]}]})")
                        .value();
  const LabelSelector selector = decode_label_selector(json).value();
  EXPECT_EQ(encode(selector), json);
  EXPECT_EQ(boost::json::serialize(encode(LabelSelector{})), "{}");
  EXPECT_FALSE(decode_label_selector(parse_json("7").value()));
}

TEST(Parts, AreWrittenAsKubernetesHasThem) {
  const std::vector<Condition> conditions{
      {.type = "Ready",
       .status = ConditionStatus::True,
       .reason = "Ready",
       .last_transition_time = base::parse_rfc3339("2026-01-02T03:04:05.9Z"),
       .observed_generation = 2},
      {.type = "Launched"}};
  EXPECT_EQ(boost::json::serialize(encode(conditions)),
            R"([{"type":"Ready","status":"True","lastTransitionTime":"2026-01-02T03:04:05Z",)"
            R"("observedGeneration":2,"reason":"Ready","message":""},)"
            R"({"type":"Launched","status":"Unknown","reason":"","message":""}])");
  EXPECT_EQ(boost::json::serialize(encode(std::vector<Taint>{{"k", "", "NoSchedule", {}}})),
            R"([{"key":"k","effect":"NoSchedule"}])");
  EXPECT_EQ(boost::json::serialize(encode(ResourceList{{"cpu", Quantity::from_milli(1500)}})),
            R"({"cpu":"1500m"})");
  EXPECT_EQ(boost::json::serialize(encode(StringMap{{"b", "2"}, {"a", "1"}})),
            R"({"a":"1","b":"2"})");
  EXPECT_EQ(boost::json::serialize(encode(std::vector<SelectorRequirement>{
                {"k", Operator::In, {"v"}, 2}, {"l", Operator::Exists, {}}})),
            R"([{"key":"k","operator":"In","values":["v"],"minValues":2},)"
            R"({"key":"l","operator":"Exists"}])");
  EXPECT_EQ(boost::json::serialize(
                encode(OwnerReference{"karpenter.sh/v1", "NodePool", "p", "u", false, true})),
            R"({"apiVersion":"karpenter.sh/v1","kind":"NodePool","name":"p","uid":"u",)"
            R"("blockOwnerDeletion":true})");
}

TEST(ParseJson, ValuesAreCountedBeforeTheyAreParsed) {
  EXPECT_FALSE(has_more_values("[0,0,0]", 4));
  EXPECT_TRUE(has_more_values("[0,0,0]", 3));
  EXPECT_FALSE(has_more_values(R"({"a":{"b":[]},"c":"d"})", 6));
  EXPECT_TRUE(has_more_values(R"({"a":{"b":[]},"c":"d"})", 3));
  EXPECT_FALSE(has_more_values(R"(["a,[{\",\\",1])", 3)) << "what texts hold does not count";
  EXPECT_FALSE(has_more_values("", 1));
  EXPECT_FALSE(has_more_values(R"("a\)", 1)) << "text that is cut";
}

TEST(ParseJson, SaysWhere) {
  const auto wrong = parse_json("{\"a\": 1,\n \"b\": x}");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().kind, base::ErrorKind::Invalid);
  EXPECT_THAT(wrong.error().message, HasSubstr("line 2"));
  for (const std::string_view text : {"", " ", "{", "[1,]", "{} {}", "nul", "\"\xff\"", "'a'"}) {
    EXPECT_FALSE(parse_json(text)) << text;
  }
  EXPECT_TRUE(parse_json(" {} \n"));
}

TEST(ParseJson, CanUseAnArena) {
  boost::json::monotonic_resource arena;
  const auto value = parse_json(R"({"a": [1, "some text that is not short"]})", &arena);
  ASSERT_TRUE(value);
  EXPECT_EQ(value->storage().get(), &arena);
  EXPECT_EQ(*value, parse_json(R"({"a": [1, "some text that is not short"]})").value());
}

TEST(ParseJson, LimitsTheDepth) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(parse_json(nested(64)));
  EXPECT_FALSE(parse_json(nested(65)));
  EXPECT_FALSE(parse_json(nested(100'000)));
}

TEST(FindPath, WalksObjectsOnly) {
  const auto json = parse_json(R"({"a": {"b": {"c": 1}, "l": [1], "n": null}})").value();
  ASSERT_NE(find_path(json, "a.b.c"), nullptr);
  EXPECT_EQ(*find_path(json, "a.b.c"), boost::json::value(1));
  EXPECT_NE(find_path(json, "a.n"), nullptr);
  EXPECT_EQ(find_path(json, "a.x"), nullptr);
  EXPECT_EQ(find_path(json, "a.l.0"), nullptr);
  EXPECT_EQ(find_path(json, "a.b.c.d"), nullptr);
  EXPECT_EQ(find_path(json, "a.n.d"), nullptr);
}

}  // namespace
}  // namespace millwright::model
