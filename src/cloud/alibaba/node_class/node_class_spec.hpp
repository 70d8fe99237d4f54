// An ECSNodeClass as values: the fields of its spec, and what its status resolved last. A field of
// a wrong type counts as absent; the module schema checks the rules of fields.
#pragma once

#include "cloud/alibaba/calls/ecs_types.hpp"
#include "millwright/model/karpenter.hpp"
#include "millwright/scheduling/requirements.hpp"

#include <boost/json/value.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::cloud::alibaba {

using NodeClassPtr = std::shared_ptr<const model::NodeClass>;
using ClaimPtr = std::shared_ptr<const model::NodeClaim>;

// One term of any selector list: an AND of what it names.
struct SelectorTerm {
  Tags tags;  // a value of "*" is any value
  std::string id;
  std::string name;
  std::string zone;      // of vSwitches
  std::string alias;     // of images: "ContainerOS", "AlibabaCloudLinux3@..."
  std::string owner;     // of images: "system", "self", "others", "marketplace"
  std::string owner_id;  // of images: number of an account
  std::string family;    // of images
  friend auto operator<=>(const SelectorTerm&, const SelectorTerm&) = default;
};

// The kubelet's settings that change a node's capacity; `all` is the block as written.
struct Kubelet {
  std::optional<std::int64_t> max_pods;
  std::optional<std::int64_t> pods_per_core;
  model::StringMap kube_reserved;
  model::StringMap system_reserved;
  boost::json::object all;
};

struct DataDisk {
  std::int64_t gib = 20;
  std::string device;
  std::string category;
  std::string performance_level;
  std::string snapshot_id;
  std::optional<bool> encrypted;
};

struct SystemDisk {
  std::vector<std::string> categories;  // the preferred one first
  std::int64_t gib = 20;
  std::string performance_level;
  std::optional<bool> encrypted;
  std::string kms_key_id;
};

struct NodeClassSpec {
  std::string name;
  bool official = false;  // of Alibaba's own provider, whose labels and tags are other ones
  std::vector<SelectorTerm> vswitch_terms;
  std::vector<SelectorTerm> security_group_terms;
  std::vector<SelectorTerm> image_terms;
  bool balanced = false;  // vSwitchSelectionPolicy: free addresses before price
  Kubelet kubelet;
  SystemDisk system_disk;
  std::vector<DataDisk> data_disks;
  std::vector<std::string> data_disk_categories;
  bool format_data_disk = false;
  model::StringMap tags;
  std::string resource_group_id;
  std::string user_data;
  std::string password;  // a secret
  bool password_inherit = false;
  std::string key_pair_name;
  std::string role;
  std::string http_endpoint;
  std::string http_tokens;
  std::optional<std::int64_t> hop_limit;
  std::string spot_price_limit;  // empty: the market's price
};
// The spec in the terms of karpenter.k8s.alibabacloud (served_class.hpp).
NodeClassSpec read_spec(const model::NodeClass& node_class);
// Whether the object is of the group of Alibaba's own provider.
bool is_official(const model::NodeClass& node_class);

struct ResolvedVSwitch {
  std::string id;
  std::string zone;
};
struct ResolvedImage {
  std::string id;
  std::string name;
  std::vector<model::SelectorRequirement> requirements;
};
struct NodeClassFindings {
  std::vector<ResolvedVSwitch> vswitches;
  std::vector<SecurityGroup> security_groups;
  std::vector<ResolvedImage> images;
};
NodeClassFindings read_status(const model::NodeClass& node_class);

// The first image whose requirements a type meets; nullptr when none does.
const ResolvedImage* image_for(const std::vector<ResolvedImage>& images,
                               const scheduling::Requirements& type);

}  // namespace millwright::cloud::alibaba
