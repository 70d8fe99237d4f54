#include "cloud/alibaba/node_class/node_class_spec.hpp"

#include "cloud/common/node_class/spec_fields.hpp"
#include "millwright/model/codec.hpp"
#include "millwright/model/kinds.hpp"
#include "millwright/model/quantity.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace millwright::cloud::alibaba {
namespace {

namespace json = boost::json;
using model::text_at;

constexpr std::int64_t kGib = std::int64_t{1} << 30;

std::vector<std::string> texts_in(const json::value& value, std::string_view key) {
  std::vector<std::string> result;
  for (const auto& each : list_at(value, key)) {
    if (each.is_string()) {
      result.emplace_back(each.get_string());
    }
  }
  return result;
}

std::vector<SelectorTerm> terms_of(const json::value& spec, std::string_view key) {
  std::vector<SelectorTerm> result;
  for (const auto& term : list_at(spec, key)) {
    auto& read = result.emplace_back();
    read.tags = texts_at(term, "tags");
    read.id = text_at(term, "id");
    read.name = text_at(term, "name");
    read.zone = text_at(term, "zoneID");
    read.alias = text_at(term, "alias");
    read.owner = text_at(term, "owner");
    read.owner_id = text_at(term, "ownerID");
    read.family = text_at(term, "family");
  }
  return result;
}

// "40Gi" to whole GiB, rounded up.
std::int64_t gib_of(std::string_view text, std::int64_t otherwise) {
  const auto size = model::Quantity::parse(text);
  if (!size || size->units() <= 0) {
    return otherwise;
  }
  return (size->units() + kGib - 1) / kGib;
}

SystemDisk system_disk_of(const json::value& spec) {
  const auto& disk = part_at(spec, "systemDisk");
  SystemDisk result;
  result.categories = texts_in(disk, "categories");
  if (result.categories.empty()) {
    result.categories = {"cloud",      "cloud_efficiency", "cloud_ssd",
                         "cloud_essd", "cloud_auto",       "cloud_essd_entry"};
  }
  // `size` is the older spelling, in GiB.
  result.gib = gib_of(text_at(disk, "volumeSize"), integer_at(disk, "size").value_or(result.gib));
  result.performance_level = text_at(disk, "performanceLevel");
  result.encrypted = boolean_at(disk, "encrypted");
  result.kms_key_id = text_at(disk, "kmsKeyID");
  return result;
}

std::vector<DataDisk> data_disks_of(const json::value& spec) {
  std::vector<DataDisk> result;
  for (const auto& each : list_at(spec, "dataDisks")) {
    DataDisk disk;
    disk.gib = gib_of(text_at(each, "volumeSize"), disk.gib);
    disk.device = text_at(each, "device");
    disk.category = text_at(each, "category");
    disk.performance_level = text_at(each, "performanceLevel");
    disk.snapshot_id = text_at(each, "snapshotID");
    disk.encrypted = boolean_at(each, "encrypted");
    result.push_back(std::move(disk));
  }
  return result;
}

Kubelet kubelet_of(const json::value& spec) {
  Kubelet result;
  const auto& kubelet = part_at(spec, "kubeletConfiguration");
  if (!kubelet.is_object()) {
    return result;
  }
  result.all = kubelet.get_object();
  result.max_pods = integer_at(kubelet, "maxPods");
  result.pods_per_core = integer_at(kubelet, "podsPerCore");
  result.kube_reserved = texts_at(kubelet, "kubeReserved");
  result.system_reserved = texts_at(kubelet, "systemReserved");
  return result;
}

}  // namespace

bool is_official(const model::NodeClass& node_class) {
  return model::api_group(node_class.api_version) == model::kOfficialEcsNodeClassResource.group;
}

NodeClassSpec read_spec(const model::NodeClass& node_class) {
  const auto& spec = node_class.spec;
  NodeClassSpec result;
  result.name = node_class.meta.name;
  result.official = is_official(node_class);
  result.vswitch_terms = terms_of(spec, "vSwitchSelectorTerms");
  result.security_group_terms = terms_of(spec, "securityGroupSelectorTerms");
  result.image_terms = terms_of(spec, "imageSelectorTerms");
  result.balanced = text_at(spec, "vSwitchSelectionPolicy") == "balanced";
  result.kubelet = kubelet_of(spec);
  result.system_disk = system_disk_of(spec);
  result.data_disks = data_disks_of(spec);
  result.data_disk_categories = texts_in(spec, "dataDiskCategories");
  result.format_data_disk = boolean_at(spec, "formatDataDisk").value_or(false);
  result.tags = texts_at(spec, "tags");
  result.resource_group_id = text_at(spec, "resourceGroupId");
  result.user_data = text_at(spec, "userData");
  result.password = text_at(spec, "password");
  result.password_inherit = boolean_at(spec, "passwordInherit").value_or(false);
  result.key_pair_name = text_at(spec, "keyPairName");
  result.role = text_at(spec, "role");
  const auto& metadata = part_at(spec, "metadataOptions");
  result.http_endpoint = text_at(metadata, "httpEndpoint");
  result.http_tokens = text_at(metadata, "httpTokens");
  result.hop_limit = integer_at(metadata, "httpPutResponseHopLimit");
  if (text_at(spec, "spotStrategy") == "SpotWithPriceLimit") {
    result.spot_price_limit = text_at(spec, "spotPriceLimit");
  }
  return result;
}

NodeClassFindings read_status(const model::NodeClass& node_class) {
  const auto& status = node_class.status;
  NodeClassFindings result;
  for (const auto& each : list_at(status, "vSwitches")) {
    result.vswitches.push_back(
        {.id = std::string(text_at(each, "id")), .zone = std::string(text_at(each, "zoneID"))});
  }
  for (const auto& each : list_at(status, "securityGroups")) {
    result.security_groups.push_back(
        {.id = std::string(text_at(each, "id")), .name = std::string(text_at(each, "name"))});
  }
  for (const auto& each : list_at(status, "images")) {
    ResolvedImage image{.id = std::string(text_at(each, "id")),
                        .name = std::string(text_at(each, "name")),
                        .requirements = {}};
    for (const auto& requirement : list_at(each, "requirements")) {
      auto& read = image.requirements.emplace_back();
      read.key = text_at(requirement, "key");
      read.values = texts_in(requirement, "values");
    }
    result.images.push_back(std::move(image));
  }
  return result;
}

const ResolvedImage* image_for(const std::vector<ResolvedImage>& images,
                               const scheduling::Requirements& type) {
  const auto fits = [&type](const ResolvedImage& image) {
    return type.compatible(scheduling::Requirements(image.requirements),
                           scheduling::AllowUndefined::WellKnown);
  };
  const auto found = std::find_if(images.begin(), images.end(), fits);
  return found == images.end() ? nullptr : &*found;
}

}  // namespace millwright::cloud::alibaba
