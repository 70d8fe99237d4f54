// An EC2NodeClass as values: the fields of its spec, and what its status resolved last. A field of
// a wrong type counts as absent; the module schema checks the rules of fields.
#pragma once

#include "cloud/aws/calls/ec2_types.hpp"
#include "millwright/model/karpenter.hpp"
#include "millwright/scheduling/requirements.hpp"

#include <boost/json/value.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::cloud::aws {

using NodeClassPtr = std::shared_ptr<const model::NodeClass>;

enum class Family : std::uint8_t {
  Al2,
  Al2023,
  Bottlerocket,
  Windows2019,
  Windows2022,
  Windows2025,
  Custom
};
bool is_windows(Family family);

// One term of any selector list: an AND of what it names.
struct SelectorTerm {
  model::StringMap tags;
  std::string id;
  std::string name;
  std::string owner;
  std::string alias;
  std::string ssm_parameter;
  std::string match_criteria;  // capacity reservations: "open", "targeted"
  friend auto operator<=>(const SelectorTerm&, const SelectorTerm&) = default;
};

struct BlockDevice {
  std::string device_name;
  bool root_volume = false;
  std::string volume_size;  // quantity: "100Gi"
  std::string volume_type;
  std::string kms_key_id;
  std::string snapshot_id;
  std::optional<std::int64_t> iops;
  std::optional<std::int64_t> throughput;
  std::optional<std::int64_t> initialization_rate;
  std::optional<bool> encrypted;
  std::optional<bool> delete_on_termination;
};

// The kubelet's settings that change a node's capacity; `all` is the block as written.
struct Kubelet {
  std::optional<std::int64_t> max_pods;
  std::optional<std::int64_t> pods_per_core;
  model::StringMap kube_reserved;
  model::StringMap system_reserved;
  std::optional<model::StringMap> eviction_hard;
  std::optional<model::StringMap> eviction_soft;
  std::vector<std::string> cluster_dns;
  boost::json::object all;
};

struct MetadataOptions {
  std::string http_endpoint = "enabled";
  std::string http_protocol_ipv6 = "disabled";
  std::int64_t hop_limit = 1;
  std::string http_tokens = "required";
};

struct NetworkInterface {
  std::int64_t card = 0;
  std::int64_t device = 0;
  std::string type;  // "interface", "efa-only"
};

// Names a placement group, by one of both.
struct PlacementSelector {
  std::string id;
  std::string name;
  bool is_given() const { return !id.empty() || !name.empty(); }
  std::string to_string() const {
    return id.empty() ? "name \"" + name + "\"" : "id \"" + id + "\"";
  }
  friend auto operator<=>(const PlacementSelector&, const PlacementSelector&) = default;
};

// How long idle connections are tracked, in seconds; nothing: EC2's defaults.
struct ConnectionTracking {
  std::optional<std::int64_t> tcp_established;
  std::optional<std::int64_t> udp_stream;
  std::optional<std::int64_t> udp;
  bool is_given() const { return tcp_established || udp_stream || udp; }
};

struct NodeClassSpec {
  std::string name;
  std::string uid;
  std::vector<SelectorTerm> subnet_terms;
  std::vector<SelectorTerm> security_group_terms;
  std::vector<SelectorTerm> image_terms;
  std::vector<SelectorTerm> reservation_terms;
  PlacementSelector placement;
  Family family = Family::Custom;
  std::string user_data;
  std::string role;
  std::string instance_profile;
  model::StringMap tags;
  Kubelet kubelet;
  std::vector<BlockDevice> block_devices;
  bool raid0 = false;
  bool detailed_monitoring = false;
  MetadataOptions metadata;
  std::string context;
  std::string nested_virtualization;  // empty, "enabled" or "disabled"
  std::optional<bool> public_address;
  std::optional<std::int64_t> prefix_count;
  std::vector<NetworkInterface> interfaces;
  ConnectionTracking tracking;
};
NodeClassSpec read_spec(const model::NodeClass& node_class);

struct ResolvedSubnet {
  std::string id;
  std::string zone;
  std::string zone_id;
};
struct ResolvedImage {
  std::string id;
  std::string name;
  bool deprecated = false;
  std::vector<model::SelectorRequirement> requirements;
};
struct NodeClassFindings {
  std::vector<ResolvedSubnet> subnets;
  std::vector<SecurityGroup> security_groups;
  std::vector<ResolvedImage> images;
  std::vector<CapacityReservation> reservations;
  std::string instance_profile;
};
NodeClassFindings read_status(const model::NodeClass& node_class);

// The first image whose requirements a type meets; nullptr when none does.
const ResolvedImage* image_for(const std::vector<ResolvedImage>& images,
                               const scheduling::Requirements& type);

}  // namespace millwright::cloud::aws
