#include "cloud/alibaba/node_class/node_class_hash.hpp"

#include "cloud/common/text/digest.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <array>
#include <map>

namespace millwright::cloud::alibaba {
namespace {

namespace json = boost::json;

constexpr std::array<std::string_view, 3> kUnhashed{
    "vSwitchSelectorTerms", "securityGroupSelectorTerms", "imageSelectorTerms"};
constexpr std::size_t kHashDigits = 16;

// Keys in their order, so that the order of fields does not matter.
void write_ordered(const json::value& value, std::string& out) {
  if (const auto* object = value.if_object()) {
    std::map<std::string_view, const json::value*> members;
    for (const auto& [key, each] : *object) {
      members.emplace(key, &each);
    }
    out += '{';
    for (const auto& [key, each] : members) {
      out.append(json::serialize(json::string(key))).append(":");
      write_ordered(*each, out);
      out += ',';
    }
    out += '}';
  } else if (const auto* array = value.if_array()) {
    out += '[';
    for (const auto& each : *array) {
      write_ordered(each, out);
      out += ',';
    }
    out += ']';
  } else {
    out += json::serialize(value);
  }
}

bool image_changed(const NodeClassFindings& findings, const EcsInstance& instance,
                   const scheduling::InstanceType* type) {
  if (type == nullptr || findings.images.empty()) {
    return false;
  }
  return std::none_of(findings.images.begin(), findings.images.end(), [&](const auto& image) {
    return image.id == instance.image_id &&
           type->requirements.compatible(scheduling::Requirements(image.requirements),
                                         scheduling::AllowUndefined::WellKnown);
  });
}

bool groups_changed(const NodeClassFindings& findings, const EcsInstance& instance) {
  std::vector<std::string> wanted;
  for (const auto& group : findings.security_groups) {
    wanted.push_back(group.id);
  }
  std::sort(wanted.begin(), wanted.end());
  return !wanted.empty() && wanted != instance.security_groups;
}

bool vswitch_changed(const NodeClassFindings& findings, const EcsInstance& instance) {
  return !findings.vswitches.empty() &&
         std::none_of(findings.vswitches.begin(), findings.vswitches.end(),
                      [&](const auto& each) { return each.id == instance.vswitch_id; });
}

}  // namespace

model::HashStamp hash_stamp(const model::NodeClass& node_class) {
  json::object spec;
  if (const auto* object = node_class.spec.if_object()) {
    spec = *object;
  }
  for (const auto field : kUnhashed) {
    spec.erase(field);
  }
  std::string canonical;
  write_ordered(spec, canonical);
  const std::string key =
      std::string(is_official(node_class) ? "karpenter.sh" : "karpenter.k8s.alibabacloud") +
      "/ecsnodeclass-hash";
  return {.key = key,
          .version_key = key + "-version",
          .hash = to_hex(sha256(canonical)).substr(0, kHashDigits),
          .version = std::string(kHashVersion),
          .earlier = {}};
}

std::string drift_reason(const NodeClassFindings& findings, const EcsInstance& instance,
                         const scheduling::InstanceType* type) {
  if (image_changed(findings, instance, type)) {
    return "ImageDrift";
  }
  if (groups_changed(findings, instance)) {
    return "SecurityGroupDrift";
  }
  return vswitch_changed(findings, instance) ? "VSwitchDrift" : "";
}

}  // namespace millwright::cloud::alibaba
