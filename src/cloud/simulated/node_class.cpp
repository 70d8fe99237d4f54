// Resolves a NodeClass in a simulated cloud: every tag, name and alias selects something, every id
// selects itself, and an empty selector list selects nothing.
#include "cloud/alibaba/node_class/served_class.hpp"
#include "cloud/simulated/catalog.hpp"
#include "cloud/simulated/profile.hpp"
#include "millwright/model/json_fields.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <array>

namespace millwright::cloud::simulated {
namespace {

namespace json = boost::json;

using model::member;
using model::text_at;

const json::array& terms(const json::value& spec, std::string_view key) {
  static const json::array kNone;
  const auto* found = member(spec, key);
  const auto* array = found == nullptr ? nullptr : found->if_array();
  return array == nullptr ? kNone : *array;
}

// A made-up id that depends only on its parts.
std::string made_id(std::string_view prefix, std::string_view seed) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string id(prefix);
  for (auto hash = stable_hash(seed); id.size() < prefix.size() + 16; hash >>= 4U) {
    id += kDigits[hash & 15U];
  }
  return id;
}

struct Networks {
  std::string_view terms_key;
  std::string_view prefix;
  std::string_view zone_key;     // empty: subnets are not zonal
  std::string_view zone_id_key;  // empty: none
};

// Terms with an id give that subnet (in the zones one after the other); other terms one subnet in
// every zone, the same for every NodeClass.
json::array subnets(const json::value& spec, const Networks& networks, const Traits& profile) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kZoneIds{
      {{"us-west-2a", "usw2-az2"}, {"us-west-2b", "usw2-az1"}, {"us-west-2c", "usw2-az3"}}};
  json::array result;
  const auto push = [&](std::string_view id, std::string_view zone) {
    for (const auto& present : result) {
      if (present.at("id").as_string() == id) {
        return;
      }
    }
    json::object subnet{{"id", id}};
    if (!networks.zone_key.empty()) {
      subnet[networks.zone_key] = zone;
    }
    if (!networks.zone_id_key.empty()) {
      const auto* found = std::find_if(kZoneIds.begin(), kZoneIds.end(),
                                       [zone](const auto& pair) { return pair.first == zone; });
      subnet[networks.zone_id_key] = found == kZoneIds.end() ? zone : found->second;
    }
    result.emplace_back(std::move(subnet));
  };
  std::size_t position = 0;
  for (const auto& term : terms(spec, networks.terms_key)) {
    const std::string_view id = text_at(term, "id");
    if (!id.empty()) {
      push(id, profile.zones[position++ % profile.zones.size()]);
      continue;
    }
    for (const auto zone : profile.zones) {
      push(made_id(networks.prefix, zone), zone);
    }
  }
  return result;
}

json::array security_groups(const json::value& spec) {
  json::array result;
  for (const auto& term : terms(spec, "securityGroupSelectorTerms")) {
    std::string id(text_at(term, "id"));
    std::string name(text_at(term, "name"));
    if (name.empty()) {
      name = "nodes";
    }
    if (id.empty()) {
      id = made_id("sg-", name);
    }
    json::object group{{"id", id}, {"name", name}};
    if (std::find(result.begin(), result.end(), json::value(group)) == result.end()) {
      result.emplace_back(std::move(group));
    }
  }
  return result;
}

json::object image(std::string_view id, std::string_view name, std::string_view arch) {
  json::object requirement{
      {"key", model::kArchLabel}, {"operator", "In"}, {"values", json::array{arch}}};
  return {{"id", id}, {"name", name}, {"requirements", json::array{std::move(requirement)}}};
}

// One image per architecture for each term; a term with an id serves both.
json::array images(const json::value& spec, std::string_view terms_key, std::string_view prefix) {
  json::array result;
  for (const auto& term : terms(spec, terms_key)) {
    const std::string_view id = text_at(term, "id");
    std::string name(text_at(term, "alias"));
    for (const auto* other : {"name", "family"}) {
      if (name.empty()) {
        name = text_at(term, other);
      }
    }
    if (name.empty()) {
      name = id.empty() ? "tagged" : id;
    }
    for (const std::string_view arch : {"amd64", "arm64"}) {
      // ContainerOS exists for x86-64 alone.
      if (name.starts_with("ContainerOS") && arch == "arm64") {
        continue;
      }
      const auto full = name + "-" + std::string(arch);
      result.emplace_back(image(id.empty() ? made_id(prefix, full) : id, full, arch));
    }
  }
  return result;
}

NodeClassState missing(json::object status, std::string_view reason, std::string_view field,
                       std::string_view what) {
  return {.status = std::move(status),
          .ready = false,
          .reason = std::string(reason),
          .message = std::string("spec.")
                         .append(field)
                         .append(" selects no ")
                         .append(what)
                         .append("; add a term with an id or tags")};
}

NodeClassState resolve_aws(const model::NodeClass& node_class) {
  const auto& spec = node_class.spec;
  json::object status;
  status["subnets"] =
      subnets(spec, {"subnetSelectorTerms", "subnet-", "zone", "zoneID"}, traits(Profile::Aws));
  status["securityGroups"] = security_groups(spec);
  status["amis"] = images(spec, "amiSelectorTerms", "ami-");
  std::string profile(text_at(spec, "instanceProfile"));
  status["instanceProfile"] = profile.empty() ? "millwright_" + node_class.meta.name : profile;
  if (status["subnets"].as_array().empty()) {
    return missing(status, "SubnetsNotFound", "subnetSelectorTerms", "subnet");
  }
  if (status["securityGroups"].as_array().empty()) {
    return missing(status, "SecurityGroupsNotFound", "securityGroupSelectorTerms",
                   "security group");
  }
  if (status["amis"].as_array().empty()) {
    return missing(status, "AMINotFound", "amiSelectorTerms", "image");
  }
  return {.status = std::move(status), .ready = true, .reason = {}, .message = {}};
}

// An ECSNodeClass of either group in the terms of the first. A simulated cloud is any cluster's.
alibaba::ServedClass in_first_terms(const model::NodeClass& node_class) {
  return alibaba::as_served(alibaba::NodeClassPtr(alibaba::NodeClassPtr(), &node_class),
                            text_at(node_class.spec, "clusterID"));
}

NodeClassState resolve_first_alibaba(const model::NodeClass& node_class) {
  const auto& spec = node_class.spec;
  json::object status;
  status["vSwitches"] =
      subnets(spec, {"vSwitchSelectorTerms", "vsw-bp1", "zoneID", ""}, traits(Profile::Alibaba));
  status["securityGroups"] = security_groups(spec);
  status["images"] = images(spec, "imageSelectorTerms", "m-bp1");
  if (status["vSwitches"].as_array().empty()) {
    return missing(status, "VSwitchesNotFound", "vSwitchSelectorTerms", "vSwitch");
  }
  if (status["securityGroups"].as_array().empty()) {
    return missing(status, "SecurityGroupsNotFound", "securityGroupSelectorTerms",
                   "security group");
  }
  if (status["images"].as_array().empty()) {
    return missing(status, "ImagesNotFound", "imageSelectorTerms", "image");
  }
  return {.status = std::move(status), .ready = true, .reason = {}, .message = {}};
}

NodeClassState resolve_alibaba(const model::NodeClass& node_class) {
  const auto first = in_first_terms(node_class);
  auto state = resolve_first_alibaba(*first.node_class);
  first.judge(state);
  return alibaba::in_own_terms(node_class, std::move(state));
}

NodeClassState resolve_huawei(const model::NodeClass& node_class) {
  json::object status;
  json::array found;
  for (const auto& term : terms(node_class.spec, "subnetSelectorTerms")) {
    std::string id(text_at(term, "id"));
    if (id.empty()) {
      id = "30abcb7b-0000-4000-8000-" + made_id("", text_at(term, "name")).substr(0, 12);
    }
    found.push_back(json::object{{"id", id}});
  }
  status["subnets"] = std::move(found);
  if (status["subnets"].as_array().empty()) {
    return missing(status, "SubnetsNotFound", "subnetSelectorTerms", "subnet");
  }
  return {.status = std::move(status), .ready = true, .reason = {}, .message = {}};
}

// JSON with sorted keys, so that the order of fields does not matter.
void write_sorted(const json::value& value, std::string& out) {
  if (const auto* object = value.if_object()) {
    std::vector<std::string_view> keys;
    for (const auto& [key, _] : *object) {
      keys.push_back(key);
    }
    std::sort(keys.begin(), keys.end());
    out += '{';
    for (const auto key : keys) {
      out.append(json::serialize(json::string(key))).append(":");
      write_sorted(object->at(key), out);
      out += ',';
    }
    out += '}';
  } else if (const auto* array = value.if_array()) {
    out += '[';
    for (const auto& item : *array) {
      write_sorted(item, out);
      out += ',';
    }
    out += ']';
  } else {
    out += json::serialize(value);
  }
}

}  // namespace

NodeClassState resolve_node_class(Profile profile, const model::NodeClass& node_class) {
  switch (profile) {
    case Profile::Kwok:
      return {.status = json::object(), .ready = true, .reason = {}, .message = {}};
    case Profile::Aws:
      return resolve_aws(node_class);
    case Profile::Alibaba:
      return resolve_alibaba(node_class);
    case Profile::Huawei:
      return resolve_huawei(node_class);
  }
  return {};
}

std::vector<std::string> unsupported(Profile profile, const model::NodeClass& node_class) {
  return profile == Profile::Alibaba ? in_first_terms(node_class).problems
                                     : std::vector<std::string>();
}

Sale sale_for(Profile profile, const model::NodeClass& node_class) {
  std::vector<std::string> zones;
  if (profile == Profile::Aws || profile == Profile::Alibaba) {
    const bool aws = profile == Profile::Aws;
    for (const auto& subnet : terms(node_class.status, aws ? "subnets" : "vSwitches")) {
      zones.emplace_back(text_at(subnet, aws ? "zone" : "zoneID"));
    }
  }
  std::sort(zones.begin(), zones.end());
  zones.erase(std::unique(zones.begin(), zones.end()), zones.end());
  return {.zones = std::move(zones), .official = alibaba::is_official(node_class)};
}

std::string image_for(Profile profile, const model::NodeClass& node_class, std::string_view arch) {
  if (profile == Profile::Huawei) {
    const auto* selector = member(node_class.spec, "imsSelector");
    return selector == nullptr ? std::string() : std::string(text_at(*selector, "imsFamily"));
  }
  const auto status = profile == Profile::Alibaba ? in_first_terms(node_class).node_class->status
                                                  : node_class.status;
  for (const auto& each : terms(status, profile == Profile::Aws ? "amis" : "images")) {
    const auto& requirements = terms(each, "requirements");
    const bool fits = std::any_of(requirements.begin(), requirements.end(), [&](const auto& r) {
      const auto& values = terms(r, "values");
      return text_at(r, "key") == model::kArchLabel &&
             std::find(values.begin(), values.end(), json::value(arch)) != values.end();
    });
    if (fits) {
      return std::string(text_at(each, "id"));
    }
  }
  return {};
}

namespace {

constexpr std::string_view kHashVersion = "millwright-v1";

std::string spec_hash(Profile profile, const model::NodeClass& node_class) {
  json::object spec;
  if (const auto* object = node_class.spec.if_object()) {
    spec = *object;
  }
  for (const auto field : traits(profile).unhashed_fields) {
    spec.erase(field);
  }
  std::string canonical;
  write_sorted(spec, canonical);
  return std::to_string(stable_hash(canonical));
}

std::string annotation(Profile profile, const model::NodeClass& node_class,
                       std::string_view suffix) {
  const auto& resource = traits(profile).node_classes.front();
  std::string kind(resource.kind);
  std::transform(kind.begin(), kind.end(), kind.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  // Alibaba Cloud's own provider writes its annotations under Karpenter's domain.
  const auto domain = alibaba::is_official(node_class) ? "karpenter.sh" : resource.group;
  return std::string(domain).append("/").append(kind).append(suffix);
}

}  // namespace

model::HashStamp hash_stamp(Profile profile, const model::NodeClass& node_class) {
  return {.key = annotation(profile, node_class, "-hash"),
          .version_key = annotation(profile, node_class, "-hash-version"),
          .hash = spec_hash(profile, node_class),
          .version = std::string(kHashVersion),
          .earlier = {}};
}

base::Duration registration_delay(const model::NodeClass& node_class) {
  const auto delay = base::parse_go_duration(text_at(node_class.spec, "nodeRegistrationDelay"));
  return delay && *delay > base::Duration::zero() ? *delay : base::Duration::zero();
}

}  // namespace millwright::cloud::simulated
