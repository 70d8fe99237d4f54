// AWSNodeTemplate to EC2NodeClass.

#include "controllers/legacy/legacy_selectors.hpp"
#include "millwright/controllers/legacy/legacy.hpp"
#include "millwright/model/codec.hpp"
#include "millwright/model/quantity.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

namespace millwright::controllers {
namespace {

namespace json = boost::json;

constexpr int kLastMinorWithAl2 = 32;

void copy(const json::object& from, json::object& to, std::string_view field) {
  if (const auto* value = from.if_contains(field)) {
    to[field] = *value;
  }
}

std::string alias_for(std::string_view family) {
  if (family == "Bottlerocket") {
    return "bottlerocket@latest";
  }
  if (family == "Windows2019") {
    return "windows2019@latest";
  }
  if (family == "Windows2022") {
    return "windows2022@latest";
  }
  return "al2@latest";
}

base::Result<> translate_images(const json::object& from, json::object& to,
                                const LegacySettings& settings, TemplateTranslation& result) {
  const auto* selector = from.if_contains("amiSelector");
  const auto* family_field = from.if_contains("amiFamily");
  std::string family = family_field != nullptr && family_field->is_string()
                           ? std::string(family_field->as_string())
                           : "AL2";
  if (family == "Ubuntu") {
    if (selector == nullptr) {
      return base::fail(base::ErrorKind::Invalid,
                        "spec.amiFamily: Ubuntu has no images of its own in EC2NodeClass; add an "
                        "amiSelector");
    }
    result.warnings.emplace_back("amiFamily Ubuntu: its instances get AL2's user data");
    family = "AL2";
  }
  if (selector != nullptr) {
    MW_TRY(terms, selector_terms(*selector, "spec.amiSelector"));
    to["amiSelectorTerms"] = std::move(terms);
    to["amiFamily"] = family;
    return {};
  }
  std::string alias = alias_for(family);
  if (alias == "al2@latest" && settings.kubernetes_minor > kLastMinorWithAl2) {
    alias = "al2023@latest";
    result.warnings.emplace_back(
        "amiFamily AL2 has no image from Kubernetes 1.33 on: nodes run AL2023; check your "
        "userData");
  }
  if (alias == "al2@latest" && settings.kubernetes_minor == 0) {
    result.notes.emplace_back(
        "amiFamily AL2 has no image from Kubernetes 1.33 on; write al2023@latest then");
  }
  to["amiSelectorTerms"] = json::array{json::object{{"alias", alias}}};
  return {};
}

void translate_metadata_options(const json::object& from, json::object& to) {
  json::object options;
  if (const auto* given = from.if_contains("metadataOptions"); given && given->is_object()) {
    options = given->as_object();
  }
  if (!options.contains("httpPutResponseHopLimit")) {
    options["httpPutResponseHopLimit"] = 2;  // the legacy default; EC2NodeClass's is 1
  }
  to["metadataOptions"] = std::move(options);
}

// An AWSNodeTemplate takes any quantity, an EC2NodeClass whole numbers of these units.
std::string whole_volume_size(std::string_view size) {
  const auto unit = size.substr(std::min(size.find_first_not_of("0123456789"), size.size()));
  const bool is_whole = unit == "Gi" || unit == "G" || unit == "Ti" || unit == "T";
  const auto quantity = model::Quantity::parse(size);
  if (is_whole || !quantity) {
    return std::string(size);
  }
  constexpr std::int64_t kMilliPerGib = 1000LL << 30;
  const std::int64_t whole = quantity->milli() / kMilliPerGib;
  const std::int64_t rest = quantity->milli() % kMilliPerGib;
  return std::to_string(rest > 0 ? whole + 1 : whole) + "Gi";
}

void round_volume_sizes(json::object& spec) {
  auto* const mappings = spec.if_contains("blockDeviceMappings");
  if (mappings == nullptr || !mappings->is_array()) {
    return;
  }
  for (auto& mapping : mappings->get_array()) {
    auto* const ebs = mapping.is_object() ? mapping.get_object().if_contains("ebs") : nullptr;
    auto* const size =
        ebs != nullptr && ebs->is_object() ? ebs->get_object().if_contains("volumeSize") : nullptr;
    if (size != nullptr && size->is_string()) {
      *size = whole_volume_size(size->get_string());
    }
  }
}

}  // namespace

base::Result<TemplateTranslation> translate_node_template(const json::value& node_template,
                                                          const LegacySettings& settings) {
  const auto* name = model::find_path(node_template, "metadata.name");
  const auto* spec = model::find_path(node_template, "spec");
  if (name == nullptr || !name->is_string() || spec == nullptr || !spec->is_object()) {
    return base::fail(base::ErrorKind::Invalid,
                      "AWSNodeTemplate: metadata.name and spec are required");
  }
  const std::string who = "AWSNodeTemplate " + std::string(name->as_string());
  const auto& from = spec->as_object();
  if (from.contains("launchTemplate")) {
    return base::fail(base::ErrorKind::Invalid,
                      who +
                          ": spec.launchTemplate cannot be translated; describe the nodes with "
                          "an EC2NodeClass");
  }
  TemplateTranslation result;
  json::object to;
  for (const auto& [field, target] :
       {std::pair{"subnetSelector", "subnetSelectorTerms"},
        std::pair{"securityGroupSelector", "securityGroupSelectorTerms"}}) {
    const auto* selector = from.if_contains(field);
    auto terms = selector_terms(selector != nullptr ? *selector : json::value(),
                                std::string("spec.") + field);
    if (!terms) {
      return base::with_context(who, std::move(terms).error());
    }
    to[target] = *std::move(terms);
  }
  auto images = translate_images(from, to, settings, result);
  if (!images) {
    return base::with_context(who, std::move(images).error());
  }
  if (from.contains("instanceProfile")) {
    copy(from, to, "instanceProfile");
  } else if (!settings.default_instance_profile.empty()) {
    to["instanceProfile"] = settings.default_instance_profile;
  } else {
    to["role"] = settings.node_role;
    result.notes.push_back("no instanceProfile: the role " + settings.node_role + " is used");
  }
  translate_metadata_options(from, to);
  for (const auto* field :
       {"blockDeviceMappings", "userData", "tags", "context", "detailedMonitoring"}) {
    copy(from, to, field);
  }
  round_volume_sizes(to);
  result.node_class = json::object{{"apiVersion", model::kEc2NodeClassResource.api_version()},
                                   {"kind", model::kEc2NodeClassResource.kind},
                                   {"metadata", json::object{{"name", name->as_string()}}},
                                   {"spec", std::move(to)}};
  return result;
}

}  // namespace millwright::controllers
