// JSON to and from the structs of this module. Decoding ignores unknown fields and refuses wrong
// types; the error names the object and the field. To change a field of an existing object, send a
// patch: encoding the whole object would lose the fields unknown here.
#pragma once

#include "millwright/base/result.hpp"
#include "millwright/model/capacity_buffer.hpp"
#include "millwright/model/core.hpp"
#include "millwright/model/devices.hpp"
#include "millwright/model/json_fields.hpp"
#include "millwright/model/karpenter.hpp"
#include "millwright/model/node_overlay.hpp"
#include "millwright/model/resource_quota.hpp"

#include <boost/json/value.hpp>

namespace millwright::model {

// Defined for the kinds below. Absent and null fields keep their defaults, as in Go's decoder.
template <class T>
base::Result<T> decode(const boost::json::value& json);
template <>
base::Result<Pod> decode<Pod>(const boost::json::value& json);
template <>
base::Result<Node> decode<Node>(const boost::json::value& json);
template <>
base::Result<PersistentVolumeClaim> decode<PersistentVolumeClaim>(const boost::json::value& json);
template <>
base::Result<PersistentVolume> decode<PersistentVolume>(const boost::json::value& json);
template <>
base::Result<StorageClass> decode<StorageClass>(const boost::json::value& json);
template <>
base::Result<CSINode> decode<CSINode>(const boost::json::value& json);
template <>
base::Result<VolumeAttachment> decode<VolumeAttachment>(const boost::json::value& json);
template <>
base::Result<PodDisruptionBudget> decode<PodDisruptionBudget>(const boost::json::value& json);
template <>
base::Result<DaemonSet> decode<DaemonSet>(const boost::json::value& json);
template <>
base::Result<Namespace> decode<Namespace>(const boost::json::value& json);
template <>
base::Result<PriorityClass> decode<PriorityClass>(const boost::json::value& json);
template <>
base::Result<ResourceQuota> decode<ResourceQuota>(const boost::json::value& json);
template <>
base::Result<DeviceClass> decode<DeviceClass>(const boost::json::value& json);
template <>
base::Result<ResourceClaim> decode<ResourceClaim>(const boost::json::value& json);
template <>
base::Result<ResourceClaimTemplate> decode<ResourceClaimTemplate>(const boost::json::value& json);
template <>
base::Result<ResourceSlice> decode<ResourceSlice>(const boost::json::value& json);
template <>
base::Result<NodePool> decode<NodePool>(const boost::json::value& json);
template <>
base::Result<NodeClaim> decode<NodeClaim>(const boost::json::value& json);
template <>
base::Result<NodeClass> decode<NodeClass>(const boost::json::value& json);
template <>
base::Result<NodeOverlay> decode<NodeOverlay>(const boost::json::value& json);
template <>
base::Result<CapacityBuffer> decode<CapacityBuffer>(const boost::json::value& json);

// Complete objects (apiVersion and kind included), for create and apply.
boost::json::value encode(const Pod& pod);
boost::json::value encode(const Node& node);
boost::json::value encode(const NodePool& pool);
boost::json::value encode(const NodeClaim& claim);
boost::json::value encode(const NodeOverlay& overlay);

// Parts, for patches.
boost::json::value encode(const std::vector<Condition>& conditions);
boost::json::value encode(const std::vector<Taint>& taints);
boost::json::value encode(const ResourceList& resources);
boost::json::value encode(const StringMap& map);
boost::json::value encode(const std::vector<SelectorRequirement>& requirements);
boost::json::value encode(const OwnerReference& owner);
boost::json::value encode(const LabelSelector& selector);
base::Result<ObjectMeta> decode_meta(const boost::json::value& object);
base::Result<PodTemplate> decode_pod_template(const boost::json::value& json);
// A DRAConfig (test.karpenter.sh/v1alpha1).
base::Result<std::vector<DeviceTemplate>> decode_device_templates(const boost::json::value& json);
base::Result<LabelSelector> decode_label_selector(const boost::json::value& json);

// Parses JSON at most 64 levels deep; the error says where it is wrong. `storage` may be an arena
// (boost::json::monotonic_resource halves the cost), which must outlive the value.
base::Result<boost::json::value> parse_json(std::string_view text,
                                            boost::json::storage_ptr storage = {});
// Whether JSON text holds more than `most` values. A parsed value takes some 25 bytes, and twice as
// many while it is parsed, though its text may be of two: ask before parsing what a stranger sent.
bool has_more_values(std::string_view text, std::size_t most);
// Multi-document YAML as kubectl reads it (go-yaml's scalar rules, merge keys, no duplicate keys);
// empty documents are skipped. At most `most_values` values, and 2 MiB of text that aliases repeat.
// UTF-8, without control characters. Invalid names the line.
inline constexpr std::size_t kMostYamlValues = 100'000;
base::Result<std::vector<boost::json::value>> parse_yaml(std::string_view text,
                                                         std::size_t most_values = kMostYamlValues);
// Deterministic block-style YAML, keys in the order of the JSON object.
std::string to_yaml(const boost::json::value& json);

}  // namespace millwright::model
