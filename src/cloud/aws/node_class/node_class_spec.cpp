#include "cloud/aws/node_class/node_class_spec.hpp"

#include "cloud/common/node_class/spec_fields.hpp"
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

std::vector<SelectorTerm> terms(const json::value& spec, std::string_view key) {
  std::vector<SelectorTerm> result;
  for (const auto& term : list_at(spec, key)) {
    auto& read = result.emplace_back();
    read.tags = texts_at(term, "tags");
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
  for (const auto& each : list_at(status, "capacityReservations")) {
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
    read.interruptible = boolean_at(each, "interruptible").value_or(false);
  }
  return result;
}

Kubelet read_kubelet(const json::value& spec) {
  Kubelet result;
  const auto& kubelet = part_at(spec, "kubelet");
  if (!kubelet.is_object()) {
    return result;
  }
  result.all = kubelet.get_object();
  result.max_pods = integer_at(kubelet, "maxPods");
  result.pods_per_core = integer_at(kubelet, "podsPerCore");
  result.kube_reserved = texts_at(kubelet, "kubeReserved");
  result.system_reserved = texts_at(kubelet, "systemReserved");
  if (member(kubelet, "evictionHard") != nullptr) {
    result.eviction_hard = texts_at(kubelet, "evictionHard");
  }
  if (member(kubelet, "evictionSoft") != nullptr) {
    result.eviction_soft = texts_at(kubelet, "evictionSoft");
  }
  for (const auto& address : list_at(kubelet, "clusterDNS")) {
    if (address.is_string()) {
      result.cluster_dns.emplace_back(address.get_string());
    }
  }
  return result;
}

std::vector<BlockDevice> read_devices(const json::value& spec) {
  std::vector<BlockDevice> result;
  for (const auto& mapping : list_at(spec, "blockDeviceMappings")) {
    const auto& ebs = part_at(mapping, "ebs");
    BlockDevice device;
    device.device_name = text_at(mapping, "deviceName");
    device.root_volume = boolean_at(mapping, "rootVolume").value_or(false);
    device.volume_size = text_at(ebs, "volumeSize");
    device.volume_type = text_at(ebs, "volumeType");
    device.kms_key_id = text_at(ebs, "kmsKeyID");
    device.snapshot_id = text_at(ebs, "snapshotID");
    device.iops = integer_at(ebs, "iops");
    device.throughput = integer_at(ebs, "throughput");
    device.initialization_rate = integer_at(ebs, "volumeInitializationRate");
    device.encrypted = boolean_at(ebs, "encrypted");
    device.delete_on_termination = boolean_at(ebs, "deleteOnTermination");
    result.push_back(std::move(device));
  }
  return result;
}

MetadataOptions read_metadata(const json::value& spec) {
  MetadataOptions result;
  const auto& options = part_at(spec, "metadataOptions");
  const auto take = [&](std::string_view key, std::string& into) {
    if (const auto text = text_at(options, key); !text.empty()) {
      into = text;
    }
  };
  take("httpEndpoint", result.http_endpoint);
  take("httpProtocolIPv6", result.http_protocol_ipv6);
  take("httpTokens", result.http_tokens);
  result.hop_limit = integer_at(options, "httpPutResponseHopLimit").value_or(result.hop_limit);
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
  const auto& placement = part_at(spec, "placementGroupSelector");
  result.placement = {.id = std::string(text_at(placement, "id")),
                      .name = std::string(text_at(placement, "name"))};
  result.family = family_of(spec, result.image_terms);
  result.user_data = text_at(spec, "userData");
  result.role = text_at(spec, "role");
  result.instance_profile = text_at(spec, "instanceProfile");
  result.tags = texts_at(spec, "tags");
  result.kubelet = read_kubelet(spec);
  result.block_devices = read_devices(spec);
  result.raid0 = text_at(spec, "instanceStorePolicy") == "RAID0";
  result.detailed_monitoring = boolean_at(spec, "detailedMonitoring").value_or(false);
  result.metadata = read_metadata(spec);
  result.context = text_at(spec, "context");
  result.nested_virtualization = text_at(part_at(spec, "cpuOptions"), "nestedVirtualization");
  result.public_address = boolean_at(spec, "associatePublicIPAddress");
  result.prefix_count = integer_at(spec, "ipPrefixCount");
  for (const auto& each : list_at(spec, "networkInterfaces")) {
    result.interfaces.push_back({.card = integer_at(each, "networkCardIndex").value_or(0),
                                 .device = integer_at(each, "deviceIndex").value_or(0),
                                 .type = std::string(text_at(each, "interfaceType"))});
  }
  const auto& tracking = part_at(spec, "connectionTracking");
  result.tracking = {.tcp_established = integer_at(tracking, "tcpEstablishedTimeout"),
                     .udp_stream = integer_at(tracking, "udpStreamTimeout"),
                     .udp = integer_at(tracking, "udpTimeout")};
  return result;
}

NodeClassFindings read_status(const model::NodeClass& node_class) {
  const auto& status = node_class.status;
  NodeClassFindings result;
  for (const auto& each : list_at(status, "subnets")) {
    result.subnets.push_back({std::string(text_at(each, "id")), std::string(text_at(each, "zone")),
                              std::string(text_at(each, "zoneID"))});
  }
  for (const auto& each : list_at(status, "securityGroups")) {
    result.security_groups.push_back(
        {std::string(text_at(each, "id")), std::string(text_at(each, "name"))});
  }
  for (const auto& each : list_at(status, "amis")) {
    ResolvedImage image{.id = std::string(text_at(each, "id")),
                        .name = std::string(text_at(each, "name")),
                        .deprecated = boolean_at(each, "deprecated").value_or(false),
                        .requirements = {}};
    for (const auto& requirement : list_at(each, "requirements")) {
      model::SelectorRequirement read;
      read.key = text_at(requirement, "key");
      read.op =
          model::parse_operator(text_at(requirement, "operator")).value_or(model::Operator::In);
      for (const auto& value : list_at(requirement, "values")) {
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
