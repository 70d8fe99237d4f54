// What the two groups' classes call otherwise: disks, images, the kubelet's block and the limit of
// spot prices. The other fields are the same, or are only in one of them.
#include "cloud/alibaba/node_class/node_class_spec.hpp"
#include "cloud/common/node_class/spec_fields.hpp"
#include "millwright/cloud/alibaba_groups.hpp"
#include "millwright/model/json_fields.hpp"
#include "millwright/model/kinds.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <utility>

namespace millwright::cloud {
namespace {

namespace json = boost::json;
using model::text_at;

constexpr std::array<std::string_view, 6> kSameFields{
    "vSwitchSelectorTerms", "securityGroupSelectorTerms", "tags", "userData", "role",
    "metadataOptions"};

struct LostField {
  std::string_view name;
  std::string_view remark;
  bool is_problem = false;
};
constexpr std::array kOnlyOfficial{
    LostField{"clusterID", "is the controller's --cluster-id"},
    LostField{"clusterName", "is not needed: ACK's script joins the node"},
    LostField{"clusterEndpoint", "is not needed: ACK's script joins the node"},
    LostField{"instanceStorePolicy", "has no equivalent: local disks are left as they are"},
    LostField{"capacityReservationPreference", "has no equivalent: ECS decides"},
    LostField{"capacityReservationSelectorTerms",
              "has no equivalent: no reservation is asked for by name"},
    // An auto provisioning group that has a template does not look at what it is told beside it:
    // neither at the script that joins the node, nor at the tags by which it is known.
    LostField{"launchTemplateID",
              "is not supported: a group of instances with a template would not run the script "
              "that joins nodes; write the template's selectors, disks, role and userData into "
              "the class instead",
              true},
    LostField{"launchTemplateVersion", "goes with launchTemplateID"}};
constexpr std::array kOnlyServed{
    LostField{"vSwitchSelectionPolicy",
              "has no equivalent: the vSwitch with most free addresses is used"},
    LostField{"dataDiskCategories", "is told by each data disk"},
    LostField{"formatDataDisk", "has no equivalent: data disks are left as they are"},
    LostField{"resourceGroupId", "has no equivalent: the default resource group is used"},
    LostField{"password", "has no equivalent"},
    LostField{"passwordInherit", "has no equivalent"},
    LostField{"keyPairName", "has no equivalent"}};

// Of image terms, beside those that are called the same.
struct TwinField {
  std::string_view from;
  std::string_view to;
};
constexpr std::array kImageTermToServed{TwinField{"imageOwnerAlias", "owner"},
                                        TwinField{"imageOwnerID", "ownerID"},
                                        TwinField{"imageFamily", "family"}};
constexpr std::array kImageTermToOfficial{TwinField{"owner", "imageOwnerAlias"},
                                          TwinField{"ownerID", "imageOwnerID"},
                                          TwinField{"family", "imageFamily"}};

constexpr std::array<std::string_view, 3> kOfficialCategories{"cloud_efficiency", "cloud_ssd",
                                                              "cloud_essd"};
constexpr std::string_view kEssd = "cloud_essd";  // their default
constexpr std::int64_t kOfficialDefaultGib = 40;
constexpr std::int64_t kOfficialLeastGib = 20;
constexpr std::int64_t kOfficialMostGib = 500;

// What controllers and kubectl write on a class.
bool is_written_by_a_program(std::string_view annotation) {
  return annotation.starts_with("karpenter.k8s.alibabacloud/") ||
         annotation.starts_with("karpenter.alibabacloud.com/") ||
         annotation.starts_with("karpenter.sh/ecsnodeclass-hash") ||
         annotation.starts_with("kubectl.kubernetes.io/");
}

json::object own_metadata(const json::value& object) {
  json::object result{{"name", text_at(object, "metadata.name")}};
  const auto* metadata = model::member(object, "metadata");
  if (const auto* labels = model::member(metadata, "labels"); labels && labels->is_object()) {
    result["labels"] = *labels;
  }
  if (const auto* found = model::member(metadata, "annotations"); found && found->is_object()) {
    json::object annotations;
    for (const auto& [key, value] : found->get_object()) {
      if (!is_written_by_a_program(key)) {
        annotations[key] = value;
      }
    }
    if (!annotations.empty()) {
      result["annotations"] = std::move(annotations);
    }
  }
  return result;
}

// The shortest text that is the number, as a person writes a price.
std::optional<std::string> plain_number(const json::value& number) {
  if (!number.is_number()) {
    return std::nullopt;
  }
  std::array<char, 64> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(),
                                          number.to_number<double>(), std::chars_format::fixed);
  return error == std::errc() ? std::optional(std::string(text.data(), end)) : std::nullopt;
}

bool is_empty_text(const json::value& value) {
  return value.is_string() && value.get_string().empty();
}

bool is_account(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Copies the members of `from` that are called the same in both groups.
void copy_members(const json::value& from, std::initializer_list<std::string_view> names,
                  json::object& to) {
  for (const auto name : names) {
    if (const auto* value = model::member(from, name)) {
      to[name] = *value;
    }
  }
}

// Moves a spec into the other group's, field by field; what is not taken in the end is unknown.
class ClassTranslator {
 public:
  explicit ClassTranslator(const json::value& node_class) : metadata_(own_metadata(node_class)) {
    if (const auto* spec = model::member(node_class, "spec"); spec && spec->is_object()) {
      rest_ = spec->get_object();
    }
  }

  EcsTranslation to_served() {
    take_same_fields();
    take_image_terms(kImageTermToServed);
    take_as("kubelet", "kubeletConfiguration");
    take_official_system_disk();
    take_official_data_disks();
    take_official_spot();
    lose(kOnlyOfficial);
    return finish(model::kEcsNodeClassResource);
  }

  EcsTranslation to_official() {
    model::NodeClass node_class;
    node_class.spec = rest_;
    const auto spec = alibaba::read_spec(node_class);
    take_same_fields();
    take_image_terms(kImageTermToOfficial);
    take_as("kubeletConfiguration", "kubelet");
    write_official_system_disk(spec);
    write_official_data_disks(spec);
    write_official_spot(spec);
    lose(kOnlyServed);
    return finish(model::kOfficialEcsNodeClassResource);
  }

 private:
  void note(std::string_view field, std::string_view remark) {
    result_.notes.push_back(std::string("spec.").append(field).append(" ").append(remark));
  }
  void refuse(std::string_view field, std::string_view remark) {
    result_.problems.push_back(std::string("spec.").append(field).append(" ").append(remark));
  }

  // nullopt when there is none.
  std::optional<json::value> take(std::string_view name) {
    const auto found = rest_.find(name);
    if (found == rest_.end()) {
      return std::nullopt;
    }
    auto value = std::move(found->value());
    rest_.erase(found);
    return value.is_null() ? std::nullopt : std::optional(std::move(value));
  }
  std::optional<json::array> take_list(std::string_view name) {
    auto value = take(name);
    if (!value) {
      return std::nullopt;
    }
    if (!value->is_array()) {
      refuse(name, "must be a list");
      return std::nullopt;
    }
    return std::move(value->get_array());
  }
  void take_as(std::string_view name, std::string_view other_name) {
    if (auto value = take(name)) {
      spec_[other_name] = *std::move(value);
    }
  }
  void take_same_fields() {
    for (const auto name : kSameFields) {
      take_as(name, name);
    }
  }

  // A term loses no filter: it would select images that nobody meant.
  void take_image_terms(std::span<const TwinField> twins) {
    const auto terms = take_list("imageSelectorTerms");
    if (!terms) {
      return;
    }
    json::array result;
    for (const auto& term : *terms) {
      const std::string field = "imageSelectorTerms[" + std::to_string(result.size()) + "].";
      auto& copy = result.emplace_back(json::object()).get_object();
      copy_members(term, {"id", "name", "tags"}, copy);
      for (const auto& twin : twins) {
        const auto* value = model::member(term, twin.from);
        if (value != nullptr && !is_empty_text(*value)) {
          copy[twin.to] = *value;
        }
      }
      if (model::member(term, "alias") != nullptr) {
        refuse(field + "alias",
               "has no equivalent; select the images by id, name, tags, imageFamily or "
               "imageOwnerAlias");
      }
      if (const auto* account = model::member(term, "imageOwnerID");
          account != nullptr && !is_empty_text(*account) && !is_account(model::as_text(account))) {
        refuse(field + "imageOwnerID",
               "must be the number of an account, such as \"1234567890123456\"");
      }
    }
    spec_["imageSelectorTerms"] = std::move(result);
  }

  void take_official_system_disk() {
    const json::value disk = take("systemDisk").value_or(json::object());
    if (!disk.is_object()) {
      refuse("systemDisk", "must be an object");
      return;
    }
    const auto category = text_at(disk, "category");
    json::object result{
        {"categories", json::array{category.empty() ? kEssd : category}},
        {"volumeSize",
         std::to_string(integer_at(disk, "size").value_or(kOfficialDefaultGib)) + "Gi"}};
    copy_members(disk, {"performanceLevel", "encrypted", "kmsKeyID"}, result);
    spec_["systemDisk"] = std::move(result);
  }

  void take_official_data_disks() {
    const auto disks = take_list("dataDisks");
    if (!disks) {
      return;
    }
    json::array result;
    for (const auto& disk : *disks) {
      const std::string field = "dataDisks[" + std::to_string(result.size()) + "]";
      auto& copy = result.emplace_back(json::object()).get_object();
      copy_members(disk, {"category", "device", "performanceLevel", "encrypted", "snapshotID"},
                   copy);
      if (const auto size = integer_at(disk, "size")) {
        copy["volumeSize"] = std::to_string(*size) + "Gi";
      } else {
        refuse(field + ".size", "must be a number of GiB");
      }
      if (!text_at(disk, "kmsKeyID").empty()) {
        refuse(field + ".kmsKeyID",
               "has no equivalent: the disk would be encrypted with the account's default key");
      }
      if (!boolean_at(disk, "deleteWithInstance").value_or(true)) {
        refuse(field + ".deleteWithInstance",
               "has no equivalent: the disk would be deleted with its instance");
      }
    }
    spec_["dataDisks"] = std::move(result);
  }

  void take_official_spot() {
    take_as("spotStrategy", "spotStrategy");
    const auto limit = take("spotPriceLimit");
    if (!limit) {
      return;
    }
    const auto text = plain_number(*limit);
    if (!text) {
      refuse("spotPriceLimit", "must be a number");
    } else if (text_at(spec_, "spotStrategy") == "SpotWithPriceLimit") {
      spec_["spotPriceLimit"] = *text;
    } else {
      note("spotPriceLimit", "counts only with spotStrategy SpotWithPriceLimit, and is left out");
    }
  }

  // The first that their provider takes; empty when there is none.
  static std::string official_category(const std::vector<std::string>& wanted) {
    const auto found = std::find_first_of(wanted.begin(), wanted.end(), kOfficialCategories.begin(),
                                          kOfficialCategories.end());
    return found == wanted.end() ? std::string() : *found;
  }

  void write_official_system_disk(const alibaba::NodeClassSpec& spec) {
    const json::value written = take("systemDisk").value_or(json::object());
    const auto& disk = spec.system_disk;
    json::object result;
    std::string category(kEssd);
    if (model::member(written, "categories") == nullptr) {
      note("systemDisk.categories", "are not given: cloud_essd is used alone");
    } else {
      category = official_category(disk.categories);
      if (disk.categories.size() > 1) {
        note("systemDisk.categories", "are several: " + category + " is used alone");
      }
    }
    if (category.empty()) {
      refuse("systemDisk.categories",
             "has none of cloud_efficiency, cloud_ssd and cloud_essd; add one of them");
    }
    if (disk.gib < kOfficialLeastGib || disk.gib > kOfficialMostGib) {
      refuse("systemDisk.volumeSize", "must be between 20Gi and 500Gi there");
    }
    result["category"] = category;
    result["size"] = disk.gib;
    if (category == kEssd) {
      copy_members(written, {"performanceLevel"}, result);
    }
    copy_members(written, {"encrypted", "kmsKeyID"}, result);
    spec_["systemDisk"] = std::move(result);
  }

  void write_official_data_disks(const alibaba::NodeClassSpec& spec) {
    const auto written = take_list("dataDisks");
    if (!written) {
      return;
    }
    const auto wanted = spec.data_disk_categories.empty()
                            ? std::vector<std::string>{std::string(kEssd)}
                            : spec.data_disk_categories;
    json::array result;
    for (const auto& disk : spec.data_disks) {
      const std::size_t index = result.size();
      const auto category =
          official_category(disk.category.empty() ? wanted : std::vector{disk.category});
      if (category.empty()) {
        refuse("dataDisks[" + std::to_string(index) + "].category",
               "must be cloud_efficiency, cloud_ssd or cloud_essd there");
      }
      const auto& original = written->at(index);
      auto& copy = result.emplace_back(json::object()).get_object();
      copy["category"] = category;
      copy["size"] = disk.gib;
      copy_members(original, {"device", "encrypted", "snapshotID"}, copy);
      if (category == kEssd) {
        copy_members(original, {"performanceLevel"}, copy);
      }
    }
    spec_["dataDisks"] = std::move(result);
  }

  void write_official_spot(const alibaba::NodeClassSpec& spec) {
    take_as("spotStrategy", "spotStrategy");
    if (!take("spotPriceLimit")) {
      return;
    }
    const auto& text = spec.spot_price_limit;
    double limit = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), limit);
    if (error != std::errc() || end != text.data() + text.size()) {
      refuse("spotPriceLimit",
             "must be an hourly price such as \"0.35\", with spotStrategy "
             "SpotWithPriceLimit");
      return;
    }
    spec_["spotPriceLimit"] = limit;
  }

  void lose(std::span<const LostField> fields) {
    for (const auto& field : fields) {
      const auto value = take(field.name);
      const bool says_nothing =
          !value || is_empty_text(*value) || (value->is_bool() && !value->get_bool());
      if (says_nothing) {
        continue;
      }
      if (field.is_problem) {
        refuse(field.name, field.remark);
      } else {
        note(field.name, field.remark);
      }
    }
  }

  EcsTranslation finish(const model::Resource& resource) {
    for (const auto& [name, value] : rest_) {
      note(name, "is no field of the kind and is left out");
    }
    result_.object = json::object{{"apiVersion", resource.api_version()},
                                  {"kind", resource.kind},
                                  {"metadata", std::move(metadata_)},
                                  {"spec", std::move(spec_)}};
    return std::move(result_);
  }

  json::object metadata_;
  json::object rest_;  // of the spec, not taken yet
  json::object spec_;  // of the other group
  EcsTranslation result_;
};

}  // namespace

EcsTranslation translate_ecs_class(const json::value& node_class, EcsGroup to) {
  ClassTranslator translator(node_class);
  return to == EcsGroup::Served ? translator.to_served() : translator.to_official();
}

}  // namespace millwright::cloud
