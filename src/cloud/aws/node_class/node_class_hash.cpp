// Karpenter hashes a Go list of the struct EC2NodeClassSpec, the image family, the CA bundle and,
// from v6 on, the kubelet's settings as JSON text. The functions below have one field each, in the
// order of that struct (pkg/apis/v1/ec2nodeclass.go), without those that it marks as ignored.
#include "cloud/aws/node_class/node_class_hash.hpp"

#include "cloud/aws/node_class/kubelet_text.hpp"
#include "cloud/common/text/text.hpp"
#include "millwright/base/time.hpp"
#include "millwright/model/hashstructure.hpp"
#include "millwright/model/json_fields.hpp"
#include "millwright/model/quantity.hpp"

#include <boost/json.hpp>

#include <limits>
#include <optional>

namespace millwright::cloud::aws {
namespace {

namespace json = boost::json;
namespace hashstructure = model::hashstructure;
using hashstructure::Hash;

std::optional<std::string_view> string_in(const json::value& value) {
  return value.is_string() ? std::optional(model::as_text(&value)) : std::nullopt;
}

Hash map_in(const json::value& value) {
  hashstructure::Map hash;
  for (const auto& [key, each] : value.get_object()) {
    if (const auto text = string_in(each)) {
      hash.entry(key, hashstructure::of_text(*text));
    }
  }
  return hash.hash();
}

// A Go struct that was read from JSON. A member that is absent, null or of a wrong type leaves its
// field at nil, which does not count.
class GoStruct {
 public:
  GoStruct(std::string_view go_type, const json::value& json) : hash_(go_type), json_(&json) {}

  // *string, *bool, *int32, *int64: a value that is there counts, be it empty, false or 0.
  GoStruct& text(std::string_view go_name, std::string_view key) {
    return with(go_name, key, string_in, hashstructure::of_text);
  }
  GoStruct& flag(std::string_view go_name, std::string_view key) {
    return with(go_name, key, flag_in, hashstructure::of_bool);
  }
  GoStruct& int32(std::string_view go_name, std::string_view key) {
    return with(go_name, key, int32_in, hashstructure::of_int32);
  }
  GoStruct& int64(std::string_view go_name, std::string_view key) {
    return with(go_name, key, int64_in, hashstructure::of_int64);
  }
  // string, bool, int32: "", false and 0 are as nothing.
  GoStruct& plain_text(std::string_view go_name, std::string_view key) {
    return text_at(key).empty() ? *this : text(go_name, key);
  }
  GoStruct& plain_flag(std::string_view go_name, std::string_view key) {
    const auto* value = find(key);
    return value == nullptr || !flag_in(*value).value_or(false) ? *this : flag(go_name, key);
  }
  GoStruct& plain_int32(std::string_view go_name, std::string_view key) {
    const auto* value = find(key);
    return value == nullptr || int32_in(*value).value_or(0) == 0 ? *this : int32(go_name, key);
  }
  // *resource.Quantity: its canonical text.
  GoStruct& quantity(std::string_view go_name, std::string_view key) {
    const auto parsed = model::Quantity::parse(text_at(key));
    if (parsed) {
      hash_.field(go_name, hashstructure::of_text(parsed->to_string()));
    }
    return *this;
  }
  // What is a JSON object: map[string]string with map_in, or a pointer to a struct.
  template <class HashOf>
  GoStruct& part(std::string_view go_name, std::string_view key, HashOf hash_of) {
    if (const auto* value = find(key); value != nullptr && value->is_object()) {
      hash_.field(go_name, hash_of(*value));
    }
    return *this;
  }
  // A slice. A null in it is a struct without fields.
  template <class HashOf>
  GoStruct& list(std::string_view go_name, std::string_view key, HashOf hash_of) {
    const auto* value = find(key);
    if (value == nullptr || !value->is_array()) {
      return *this;
    }
    hashstructure::Set elements;
    for (const auto& each : value->get_array()) {
      elements.add(hash_of(each));
    }
    hash_.field(go_name, elements.hash());
    return *this;
  }
  Hash hash() const { return hash_.hash(); }

 private:
  static std::optional<bool> flag_in(const json::value& value) {
    return value.is_bool() ? std::optional(value.get_bool()) : std::nullopt;
  }
  static std::optional<std::int64_t> int64_in(const json::value& value) {
    return value.is_int64() ? std::optional(value.get_int64()) : std::nullopt;
  }
  static std::optional<std::int32_t> int32_in(const json::value& value) {
    using Limits = std::numeric_limits<std::int32_t>;
    const auto wide = int64_in(value);
    return wide && *wide >= Limits::min() && *wide <= Limits::max()
               ? std::optional(static_cast<std::int32_t>(*wide))
               : std::nullopt;
  }
  const json::value* find(std::string_view key) const { return model::member(*json_, key); }
  std::string_view text_at(std::string_view key) const { return model::as_text(find(key)); }
  template <class Read, class HashOf>
  GoStruct& with(std::string_view go_name, std::string_view key, Read read, HashOf hash_of) {
    if (const auto* value = find(key)) {
      if (const auto found = read(*value)) {
        hash_.field(go_name, hash_of(*found));
      }
    }
    return *this;
  }

  hashstructure::Struct hash_;
  const json::value* json_;
};

Hash hash_of_placement(const json::value& selector) {
  return GoStruct("PlacementGroupSelector", selector).text("Name", "name").text("ID", "id").hash();
}

Hash hash_of_ebs(const json::value& ebs) {
  return GoStruct("BlockDevice", ebs)
      .flag("DeleteOnTermination", "deleteOnTermination")
      .flag("Encrypted", "encrypted")
      .int64("IOPS", "iops")
      .text("KMSKeyID", "kmsKeyID")
      .text("SnapshotID", "snapshotID")
      .int64("Throughput", "throughput")
      .int32("VolumeInitializationRate", "volumeInitializationRate")
      .quantity("VolumeSize", "volumeSize")
      .text("VolumeType", "volumeType")
      .hash();
}

Hash hash_of_mapping(const json::value& mapping) {
  return GoStruct("BlockDeviceMapping", mapping)
      .text("DeviceName", "deviceName")
      .part("EBS", "ebs", hash_of_ebs)
      .plain_flag("RootVolume", "rootVolume")
      .hash();
}

Hash hash_of_interface(const json::value& interface) {
  return GoStruct("NetworkInterface", interface)
      .plain_int32("NetworkCardIndex", "networkCardIndex")
      .plain_int32("DeviceIndex", "deviceIndex")
      .plain_text("InterfaceType", "interfaceType")
      .hash();
}

Hash hash_of_metadata(const json::value& options) {
  return GoStruct("MetadataOptions", options)
      .text("HTTPEndpoint", "httpEndpoint")
      .text("HTTPProtocolIPv6", "httpProtocolIPv6")
      .int64("HTTPPutResponseHopLimit", "httpPutResponseHopLimit")
      .text("HTTPTokens", "httpTokens")
      .hash();
}

Hash hash_of_enclave(const json::value& options) {
  return GoStruct("EnclaveOptions", options).flag("Enabled", "enabled").hash();
}

Hash hash_of_tracking(const json::value& tracking) {
  return GoStruct("ConnectionTracking", tracking)
      .int32("TCPEstablishedTimeout", "tcpEstablishedTimeout")
      .int32("UDPStreamTimeout", "udpStreamTimeout")
      .int32("UDPTimeout", "udpTimeout")
      .hash();
}

Hash hash_of_cpu(const json::value& options) {
  return GoStruct("CPUOptions", options)
      .text("NestedVirtualization", "nestedVirtualization")
      .hash();
}

Hash hash_of_address(const json::value& address) {
  return hashstructure::of_text(string_in(address).value_or(""));
}

// map[string]metav1.Duration.
Hash hash_of_periods(const json::value& periods) {
  hashstructure::Map hash;
  for (const auto& [signal, each] : periods.get_object()) {
    if (const auto period = base::parse_go_duration(model::as_text(&each))) {
      hash.entry(signal, hashstructure::of_duration(*period));
    }
  }
  return hash.hash();
}

// Up to v5 the settings were a struct of these twelve.
Hash hash_of_kubelet(const json::value& kubelet) {
  return GoStruct("KubeletConfiguration", kubelet)
      .list("ClusterDNS", "clusterDNS", hash_of_address)
      .int32("MaxPods", "maxPods")
      .int32("PodsPerCore", "podsPerCore")
      .part("SystemReserved", "systemReserved", map_in)
      .part("KubeReserved", "kubeReserved", map_in)
      .part("EvictionHard", "evictionHard", map_in)
      .part("EvictionSoft", "evictionSoft", map_in)
      .part("EvictionSoftGracePeriod", "evictionSoftGracePeriod", hash_of_periods)
      .int32("EvictionMaxPodGracePeriod", "evictionMaxPodGracePeriod")
      .int32("ImageGCHighThresholdPercent", "imageGCHighThresholdPercent")
      .int32("ImageGCLowThresholdPercent", "imageGCLowThresholdPercent")
      .flag("CPUCFSQuota", "cpuCFSQuota")
      .hash();
}

Hash hash_of_spec(const json::value& spec, HashVersion version) {
  GoStruct hash("EC2NodeClassSpec", spec);
  hash.part("PlacementGroupSelector", "placementGroupSelector", hash_of_placement)
      .flag("AssociatePublicIPAddress", "associatePublicIPAddress")
      .text("UserData", "userData")
      .plain_text("Role", "role")
      .text("InstanceProfile", "instanceProfile")
      .part("Tags", "tags", map_in);
  if (version == HashVersion::V5) {
    hash.part("Kubelet", "kubelet", hash_of_kubelet);
  }
  hash.list("BlockDeviceMappings", "blockDeviceMappings", hash_of_mapping)
      .text("InstanceStorePolicy", "instanceStorePolicy")
      .list("NetworkInterfaces", "networkInterfaces", hash_of_interface)
      .flag("DetailedMonitoring", "detailedMonitoring")
      .part("MetadataOptions", "metadataOptions", hash_of_metadata);
  if (version != HashVersion::V5) {
    hash.part("EnclaveOptions", "enclaveOptions", hash_of_enclave);
  }
  return hash.part("ConnectionTracking", "connectionTracking", hash_of_tracking)
      .text("Context", "context")
      .part("CPUOptions", "cpuOptions", hash_of_cpu)
      .hash();
}

// As Karpenter spells it: what amiFamily says, or the family of the first alias.
std::string family_text(const json::value& spec) {
  const auto* family = model::member(spec, "amiFamily");
  if (family != nullptr && family->is_string()) {
    return std::string(family->get_string());
  }
  const auto* terms = model::member(spec, "amiSelectorTerms");
  if (terms != nullptr && terms->is_array()) {
    for (const auto& term : terms->get_array()) {
      const auto alias = model::text_at(term, "alias");
      for (const std::string_view known :
           {"AL2", "AL2023", "Bottlerocket", "Windows2019", "Windows2022", "Windows2025"}) {
        if (lower_case(known) == alias.substr(0, alias.find('@'))) {
          return std::string(known);
        }
      }
    }
  }
  return "Custom";
}

}  // namespace

std::string node_class_hash(const model::NodeClass& node_class, std::string_view ca_bundle,
                            HashVersion version) {
  hashstructure::Set parts;
  parts.add(hash_of_spec(node_class.spec, version))
      .add(hashstructure::of_text(family_text(node_class.spec)))
      .add(hashstructure::of_text(ca_bundle));
  if (version != HashVersion::V5) {
    parts.add(hashstructure::of_text(kubelet_text(node_class.spec)));
  }
  return std::to_string(parts.hash());
}

model::HashStamp hash_stamp(const model::NodeClass& node_class, std::string_view ca_bundle) {
  return {.key = std::string(kHashAnnotation),
          .version_key = std::string(kHashVersionAnnotation),
          .hash = node_class_hash(node_class, ca_bundle, HashVersion::V6),
          .version = "v6",
          .earlier = {}};
}

}  // namespace millwright::cloud::aws
