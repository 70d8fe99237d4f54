#include "millwright/model/codec.hpp"
#include "model/codec/pod_reader.hpp"
#include "model/codec/reader.hpp"

namespace millwright::model {
namespace detail {

// Not in an unnamed namespace: Reader::field finds these by argument-dependent lookup.
void read(const Reader& reader, Node& out) {
  reader.field("metadata", out.meta);
  reader.field("spec.providerID", out.provider_id);
  reader.field("spec.unschedulable", out.unschedulable);
  reader.field("spec.taints", out.taints);
  reader.field("status.capacity", out.capacity);
  reader.field("status.allocatable", out.allocatable);
  reader.field("status.conditions", out.conditions);
}

void read(const Reader& reader, PersistentVolumeClaim& out) {
  reader.field("metadata", out.meta);
  reader.field("spec.volumeName", out.volume_name);
  reader.field("spec.storageClassName", out.storage_class);
  reader.field("spec.accessModes", out.access_modes);
  reader.field("status.phase", out.phase);
}

void read(const Reader& reader, PersistentVolume& out) {
  reader.field("metadata", out.meta);
  reader.at("spec", [&out](const Reader& spec) {
    spec.field("csi.driver", out.csi_driver);
    out.local_or_host_path = spec.find("local").has_value() || spec.find("hostPath").has_value();
    spec.field("nodeAffinity.required.nodeSelectorTerms", out.required_node_terms);
    spec.field("storageClassName", out.storage_class);
    // The in-tree plugin is served by the CSI driver and counts towards its limit.
    if (out.csi_driver.empty() && spec.find("awsElasticBlockStore")) {
      out.csi_driver = "ebs.csi.aws.com";
    }
  });
}

void read(const Reader& reader, StorageClass& out) {
  reader.field("metadata", out.meta);
  reader.field("provisioner", out.provisioner);
  reader.field("volumeBindingMode", out.volume_binding_mode);
  reader.at("allowedTopologies", [&out](const Reader& list) {
    const auto* const items = list.value().if_array();
    if (items == nullptr) {
      list.expected("a list");
      return;
    }
    for (std::size_t i = 0; i < items->size(); ++i) {
      // These expressions have a key and values only; the operator's default is In.
      list.step(i, (*items)[i])
          .field("matchLabelExpressions", out.allowed_topologies.emplace_back().match_expressions);
    }
  });
}

void read(const Reader& reader, CSINodeDriver& out) {
  reader.field("name", out.name);
  reader.field("allocatable.count", out.allocatable_count);
}

void read(const Reader& reader, CSINode& out) {
  reader.field("metadata", out.meta);
  reader.field("spec.drivers", out.drivers);
}

void read(const Reader& reader, VolumeAttachment& out) {
  reader.field("metadata", out.meta);
  reader.field("spec.nodeName", out.node_name);
  reader.field("spec.source.persistentVolumeName", out.persistent_volume_name);
}

void read(const Reader& reader, PodDisruptionBudget& out) {
  reader.field("metadata", out.meta);
  reader.field("spec.selector", out.selector);
  reader.at("spec.minAvailable",
            [&out](const Reader& at) { read_int_or_string(at, out.min_available); });
  reader.at("spec.maxUnavailable",
            [&out](const Reader& at) { read_int_or_string(at, out.max_unavailable); });
  reader.field("spec.unhealthyPodEvictionPolicy", out.unhealthy_pod_eviction_policy);
  reader.field("status.disruptionsAllowed", out.disruptions_allowed);
  reader.field("status.observedGeneration", out.observed_generation);
}

void read(const Reader& reader, DaemonSet& out) {
  reader.field("metadata", out.meta);
  reader.field("spec.selector", out.selector);
  reader.field("spec.template", out.pod_template);
}

void read(const Reader& reader, Namespace& out) {
  reader.field("metadata", out.meta);
}

void read(const Reader& reader, PriorityClass& out) {
  reader.field("metadata", out.meta);
  reader.field("value", out.value);
  reader.field("globalDefault", out.global_default);
}

void read(const Reader& reader, ResourceQuota& out) {
  read_slim(reader, out.meta);
  reader.field("status.hard", out.hard);
  const auto limits_to_some = [&out](const Reader& scopes) {
    const auto* const list = scopes.value().if_array();
    if (list == nullptr) {
      scopes.expected("a list");
      return;
    }
    out.scoped = out.scoped || !list->empty();
  };
  reader.at("spec.scopes", limits_to_some);
  reader.at("spec.scopeSelector.matchExpressions", limits_to_some);
}

}  // namespace detail

template <>
base::Result<Node> decode<Node>(const boost::json::value& json) {
  return detail::decode_object<Node>("Node", json);
}
template <>
base::Result<PersistentVolumeClaim> decode<PersistentVolumeClaim>(const boost::json::value& json) {
  return detail::decode_object<PersistentVolumeClaim>("PersistentVolumeClaim", json);
}
template <>
base::Result<PersistentVolume> decode<PersistentVolume>(const boost::json::value& json) {
  return detail::decode_object<PersistentVolume>("PersistentVolume", json);
}
template <>
base::Result<StorageClass> decode<StorageClass>(const boost::json::value& json) {
  return detail::decode_object<StorageClass>("StorageClass", json);
}
template <>
base::Result<CSINode> decode<CSINode>(const boost::json::value& json) {
  return detail::decode_object<CSINode>("CSINode", json);
}
template <>
base::Result<VolumeAttachment> decode<VolumeAttachment>(const boost::json::value& json) {
  return detail::decode_object<VolumeAttachment>("VolumeAttachment", json);
}
template <>
base::Result<PodDisruptionBudget> decode<PodDisruptionBudget>(const boost::json::value& json) {
  return detail::decode_object<PodDisruptionBudget>("PodDisruptionBudget", json);
}
template <>
base::Result<DaemonSet> decode<DaemonSet>(const boost::json::value& json) {
  return detail::decode_object<DaemonSet>("DaemonSet", json);
}
template <>
base::Result<Namespace> decode<Namespace>(const boost::json::value& json) {
  return detail::decode_object<Namespace>("Namespace", json);
}
template <>
base::Result<PriorityClass> decode<PriorityClass>(const boost::json::value& json) {
  return detail::decode_object<PriorityClass>("PriorityClass", json);
}
template <>
base::Result<ResourceQuota> decode<ResourceQuota>(const boost::json::value& json) {
  return detail::decode_object<ResourceQuota>("ResourceQuota", json);
}

}  // namespace millwright::model
