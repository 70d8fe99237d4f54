#include "cloud/aws/node_class/node_class_spec.hpp"

#include "cloud/common/text/text.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <array>

namespace millwright::cloud::aws {
namespace {

namespace json = boost::json;
using model::member;
using model::text_at;

const json::array& list(const json::value& value, std::string_view key) {
  static const json::array kNone;
  const auto* found = member(value, key);
  const auto* array = found == nullptr ? nullptr : found->if_array();
  return array == nullptr ? kNone : *array;
}

const json::value& part(const json::value& value, std::string_view key) {
  static const json::value kNone;
  const auto* found = member(value, key);
  return found == nullptr ? kNone : *found;
}

std::optional<std::int64_t> integer(const json::value& value, std::string_view key) {
  const auto* found = member(value, key);
  return found != nullptr && found->is_int64() ? std::optional(found->get_int64()) : std::nullopt;
}

std::optional<bool> boolean(const json::value& value, std::string_view key) {
  const auto* found = member(value, key);
  return found != nullptr && found->is_bool() ? std::optional(found->get_bool()) : std::nullopt;
}

// Quantities may be written as text or as a number.
model::StringMap text_map(const json::value& value, std::string_view key) {
  model::StringMap result;
  const auto* object = part(value, key).if_object();
  if (object == nullptr) {
    return result;
  }
  for (const auto& [name, each] : *object) {
    if (each.is_string()) {
      result.emplace(name, std::string(each.get_string()));
    } else if (each.is_int64()) {
      result.emplace(name, std::to_string(each.get_int64()));
    }
  }
  return result;
}

std::vector<SelectorTerm> terms(const json::value& spec, std::string_view key) {
  std::vector<SelectorTerm> result;
  for (const auto& term : list(spec, key)) {
    auto& read = result.emplace_back();
    read.tags = text_map(term, "tags");
    read.id = text_at(term, "id");
    read.name = text_at(term, "name");
    // Of images, and of capacity reservations.
    read.owner = text_at(term, "owner");
    if (read.owner.empty()) {
      read.owner = text_at(term, "ownerID");
    }
    read.alias = text_at(term, "alias");
    read.ssm_parameter = text_at(term, "ssmParameter");
    read.match_criteria = text_at(term, "instanceMatchCriteria");
  }
  return result;
}

// "AL2023" and the alias "al2023@latest" alike; an explicit family wins over the alias's.
Family family_of(const json::value& spec, const std::vector<SelectorTerm>& images) {
  constexpr std::array<std::pair<std::string_view, Family>, 7> kNames{
      {{"al2", Family::Al2},
       {"al2023", Family::Al2023},
       {"bottlerocket", Family::Bottlerocket},
       {"windows2019", Family::Windows2019},
       {"windows2022", Family::Windows2022},
       {"windows2025", Family::Windows2025},
       {"custom", Family::Custom}}};
  auto name = lower_case(text_at(spec, "amiFamily"));
  for (const auto& term : images) {
    if (name.empty() && !term.alias.empty()) {
      name = lower_case(term.alias.substr(0, term.alias.find('@')));
    }
  }
  for (const auto& [known, family] : kNames) {
    if (known == name) {
      return family;
    }
  }
  return Family::Custom;
}

std::vector<CapacityReservation> read_reservations(const json::value& status) {
  std::vector<CapacityReservation> result;
  for (const auto& each : list(status, "capacityReservations")) {
    auto& read = result.emplace_back();
    read.id = text_at(each, "id");
    read.type = text_at(each, "instanceType");
    read.zone = text_at(each, "availabilityZone");
    read.owner = text_at(each, "ownerID");
    read.match_criteria = text_at(each, "instanceMatchCriteria");
    if (const auto kind = text_at(each, "reservationType"); !kind.empty()) {
      read.kind = kind;
    }
    read.end_time = text_at(each, "endTime");
    read.expiring = text_at(each, "state") == "expiring";
    read.interruptible = boolean(each, "interruptible").value_or(false);
  }
  return result;
}

Kubelet read_kubelet(const json::value& spec) {
  Kubelet result;
  const auto& kubelet = part(spec, "kubelet");
  if (!kubelet.is_object()) {
    return result;
  }
  result.all = kubelet.get_object();
  result.max_pods = integer(kubelet, "maxPods");
  result.pods_per_core = integer(kubelet, "podsPerCore");
  result.kube_reserved = text_map(kubelet, "kubeReserved");
  result.system_reserved = text_map(kubelet, "systemReserved");
  if (member(kubelet, "evictionHard") != nullptr) {
    result.eviction_hard = text_map(kubelet, "evictionHard");
  }
  if (member(kubelet, "evictionSoft") != nullptr) {
    result.eviction_soft = text_map(kubelet, "evictionSoft");
  }
  for (const auto& address : list(kubelet, "clusterDNS")) {
    if (address.is_string()) {
      result.cluster_dns.emplace_back(address.get_string());
    }
  }
  return result;
}

std::vector<BlockDevice> read_devices(const json::value& spec) {
  std::vector<BlockDevice> result;
  for (const auto& mapping : list(spec, "blockDeviceMappings")) {
    const auto& ebs = part(mapping, "ebs");
    BlockDevice device;
    device.device_name = text_at(mapping, "deviceName");
    device.root_volume = boolean(mapping, "rootVolume").value_or(false);
    device.volume_size = text_at(ebs, "volumeSize");
    device.volume_type = text_at(ebs, "volumeType");
    device.kms_key_id = text_at(ebs, "kmsKeyID");
    device.snapshot_id = text_at(ebs, "snapshotID");
    device.iops = integer(ebs, "iops");
    device.throughput = integer(ebs, "throughput");
    device.initialization_rate = integer(ebs, "volumeInitializationRate");
    device.encrypted = boolean(ebs, "encrypted");
    device.delete_on_termination = boolean(ebs, "deleteOnTermination");
    result.push_back(std::move(device));
  }
  return result;
}

MetadataOptions read_metadata(const json::value& spec) {
  MetadataOptions result;
  const auto& options = part(spec, "metadataOptions");
  const auto take = [&](std::string_view key, std::string& into) {
    if (const auto text = text_at(options, key); !text.empty()) {
      into = text;
    }
  };
  take("httpEndpoint", result.http_endpoint);
  take("httpProtocolIPv6", result.http_protocol_ipv6);
  take("httpTokens", result.http_tokens);
  result.hop_limit = integer(options, "httpPutResponseHopLimit").value_or(result.hop_limit);
  return result;
}

}  // namespace

bool is_windows(Family family) {
  return family == Family::Windows2019 || family == Family::Windows2022 ||
         family == Family::Windows2025;
}

NodeClassSpec read_spec(const model::NodeClass& node_class) {
  const auto& spec = node_class.spec;
  NodeClassSpec result;
  result.name = node_class.meta.name;
  result.uid = node_class.meta.uid;
  result.subnet_terms = terms(spec, "subnetSelectorTerms");
  result.security_group_terms = terms(spec, "securityGroupSelectorTerms");
  result.image_terms = terms(spec, "amiSelectorTerms");
  result.reservation_terms = terms(spec, "capacityReservationSelectorTerms");
  const auto& placement = part(spec, "placementGroupSelector");
  result.placement = {.id = std::string(text_at(placement, "id")),
                      .name = std::string(text_at(placement, "name"))};
  result.family = family_of(spec, result.image_terms);
  result.user_data = text_at(spec, "userData");
  result.role = text_at(spec, "role");
  result.instance_profile = text_at(spec, "instanceProfile");
  result.tags = text_map(spec, "tags");
  result.kubelet = read_kubelet(spec);
  result.block_devices = read_devices(spec);
  result.raid0 = text_at(spec, "instanceStorePolicy") == "RAID0";
  result.detailed_monitoring = boolean(spec, "detailedMonitoring").value_or(false);
  result.metadata = read_metadata(spec);
  result.context = text_at(spec, "context");
  result.nested_virtualization = text_at(part(spec, "cpuOptions"), "nestedVirtualization");
  result.public_address = boolean(spec, "associatePublicIPAddress");
  result.prefix_count = integer(spec, "ipPrefixCount");
  for (const auto& each : list(spec, "networkInterfaces")) {
    result.interfaces.push_back({.card = integer(each, "networkCardIndex").value_or(0),
                                 .device = integer(each, "deviceIndex").value_or(0),
                                 .type = std::string(text_at(each, "interfaceType"))});
  }
  return result;
}

NodeClassFindings read_status(const model::NodeClass& node_class) {
  const auto& status = node_class.status;
  NodeClassFindings result;
  for (const auto& each : list(status, "subnets")) {
    result.subnets.push_back({std::string(text_at(each, "id")), std::string(text_at(each, "zone")),
                              std::string(text_at(each, "zoneID"))});
  }
  for (const auto& each : list(status, "securityGroups")) {
    result.security_groups.push_back(
        {std::string(text_at(each, "id")), std::string(text_at(each, "name"))});
  }
  for (const auto& each : list(status, "amis")) {
    ResolvedImage image{.id = std::string(text_at(each, "id")),
                        .name = std::string(text_at(each, "name")),
                        .deprecated = boolean(each, "deprecated").value_or(false),
                        .requirements = {}};
    for (const auto& requirement : list(each, "requirements")) {
      model::SelectorRequirement read;
      read.key = text_at(requirement, "key");
      read.op =
          model::parse_operator(text_at(requirement, "operator")).value_or(model::Operator::In);
      for (const auto& value : list(requirement, "values")) {
        if (value.is_string()) {
          read.values.emplace_back(value.get_string());
        }
      }
      image.requirements.push_back(std::move(read));
    }
    result.images.push_back(std::move(image));
  }
  result.instance_profile = text_at(status, "instanceProfile");
  result.reservations = read_reservations(status);
  return result;
}

const ResolvedImage* image_for(const std::vector<ResolvedImage>& images,
                               const scheduling::Requirements& type) {
  for (const auto& image : images) {
    const scheduling::Requirements wanted(image.requirements);
    if (type.compatible(wanted, scheduling::AllowUndefined::WellKnown)) {
      return &image;
    }
  }
  return nullptr;
}

}  // namespace millwright::cloud::aws
