// Strategic merge patch, as kubectl sends it for built-in kinds: lists merge by key, and $patch,
// $retainKeys, $setElementOrder and $deleteFromPrimitiveList steer the merge.
#include "millwright/model/patch.hpp"
#include "sandbox/apiserver/store/patch.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace millwright::sandbox {

namespace {

constexpr std::string_view kOrderPrefix = "$setElementOrder/";
constexpr std::string_view kDeletePrefix = "$deleteFromPrimitiveList/";

class StrategicMerge {
 public:
  explicit StrategicMerge(const ResourceInfo& info) : info_(info) {}

  void merge(boost::json::object& target, const boost::json::object& patch,
             const std::string& path) const {
    if (const auto* directive = patch.if_contains("$patch");
        directive != nullptr && *directive == "replace") {
      target = patch;
      target.erase("$patch");
      return;
    }
    for (const auto& [name, value] : patch) {
      const std::string_view field = name;
      if (field.starts_with(kDeletePrefix)) {
        remove_scalars(target, field.substr(kDeletePrefix.size()), value);
      } else if (!field.starts_with("$")) {
        merge_field(target, field, value, path);
      }
    }
    for (const auto& [name, value] : patch) {
      const std::string_view field = name;
      if (field.starts_with(kOrderPrefix)) {
        reorder(target, field.substr(kOrderPrefix.size()), value, path);
      }
    }
    if (const auto* keep = patch.if_contains("$retainKeys"); keep != nullptr && keep->is_array()) {
      retain(target, keep->get_array());
    }
  }

 private:
  static std::string join(const std::string& path, std::string_view field) {
    return path.empty() ? std::string(field) : path + "." + std::string(field);
  }

  void merge_field(boost::json::object& target, std::string_view field, const Json& value,
                   const std::string& path) const {
    if (value.is_null()) {
      target.erase(field);
      return;
    }
    auto& at = target[field];
    if (value.is_object()) {
      const auto* directive = value.get_object().if_contains("$patch");
      if (directive != nullptr && *directive == "delete") {
        target.erase(field);
        return;
      }
      if (!at.is_object()) {
        at.emplace_object();
      }
      merge(at.get_object(), value.get_object(), join(path, field));
    } else if (value.is_array()) {
      merge_list(at, value.get_array(), join(path, field), field);
    } else {
      at = value;
    }
  }

  void merge_list(Json& at, const boost::json::array& patch, const std::string& path,
                  std::string_view field) const {
    const auto rule = list_rule(info_, path, field);
    if (rule.type == ListRule::Type::Atomic || !at.is_array()) {
      if (rule.type != ListRule::Type::Map) {
        at = patch;
        return;
      }
      at.emplace_array();
    }
    auto& list = at.get_array();
    if (rule.type == ListRule::Type::Set) {
      for (const auto& item : patch) {
        if (std::find(list.begin(), list.end(), item) == list.end()) {
          list.push_back(item);
        }
      }
      return;
    }
    const bool replaces = std::any_of(patch.begin(), patch.end(), [](const Json& item) {
      return text(item, "$patch") == "replace";
    });
    if (replaces) {
      list.clear();
    }
    for (const auto& item : patch) {
      if (item.is_object() && text(item, "$patch") != "replace") {
        merge_item(list, item, rule.key, path);
      }
    }
  }

  void merge_item(boost::json::array& list, const Json& item, std::string_view key,
                  const std::string& path) const {
    const auto* wanted = item.get_object().if_contains(key);
    const auto found = std::find_if(list.begin(), list.end(), [&](const Json& present) {
      const auto* own = find(present, key);
      return own != nullptr && wanted != nullptr && *own == *wanted;
    });
    if (text(item, "$patch") == "delete") {
      if (found != list.end()) {
        list.erase(found);
      }
      return;
    }
    if (found != list.end() && found->is_object()) {
      merge(found->get_object(), item.get_object(), path);
      return;
    }
    boost::json::object fresh;
    merge(fresh, item.get_object(), path);
    list.push_back(std::move(fresh));
  }

  static void remove_scalars(boost::json::object& target, std::string_view field,
                             const Json& values) {
    auto* list = target.if_contains(field);
    if (list == nullptr || !list->is_array() || !values.is_array()) {
      return;
    }
    auto& items = list->get_array();
    const auto& gone = values.get_array();
    items.erase(std::remove_if(items.begin(), items.end(),
                               [&](const Json& item) {
                                 return std::find(gone.begin(), gone.end(), item) != gone.end();
                               }),
                items.end());
  }

  // Items named in `order` come first and in that order; what only the server has follows.
  void reorder(boost::json::object& target, std::string_view field, const Json& order,
               const std::string& path) const {
    auto* list = target.if_contains(field);
    if (list == nullptr || !list->is_array() || !order.is_array()) {
      return;
    }
    const auto rule = list_rule(info_, join(path, field), field);
    const auto rank = [&](const Json& item) {
      std::size_t position = 0;
      for (const auto& wanted : order.get_array()) {
        const auto* a = rule.key.empty() ? &wanted : find(wanted, rule.key);
        const auto* b = rule.key.empty() ? &item : find(item, rule.key);
        if (a != nullptr && b != nullptr && *a == *b) {
          return position;
        }
        ++position;
      }
      return position;
    };
    auto& items = list->get_array();
    std::stable_sort(items.begin(), items.end(),
                     [&](const Json& a, const Json& b) { return rank(a) < rank(b); });
  }

  static void retain(boost::json::object& target, const boost::json::array& keep) {
    std::vector<std::string> gone;
    for (const auto& [name, value] : target) {
      const bool kept = std::any_of(keep.begin(), keep.end(), [&](const Json& wanted) {
        return wanted.is_string() &&
               std::string_view(wanted.get_string()) == std::string_view(name);
      });
      if (!kept) {
        gone.emplace_back(name);
      }
    }
    for (const auto& name : gone) {
      target.erase(name);
    }
  }

  const ResourceInfo& info_;
};

}  // namespace

ListRule list_rule(const ResourceInfo& info, std::string_view path, std::string_view field) {
  using Type = ListRule::Type;
  if (field == "finalizers") {
    return {Type::Set, {}};
  }
  if (field == "ownerReferences") {
    return {Type::Map, "uid"};
  }
  if (field == "conditions" && path.starts_with("status")) {
    return {Type::Map, "type"};
  }
  if (info.custom != nullptr) {
    return {};
  }
  struct Rule {
    std::string_view field;
    std::string_view key;
  };
  static constexpr Rule kRules[] = {{"containers", "name"},
                                    {"initContainers", "name"},
                                    {"ephemeralContainers", "name"},
                                    {"env", "name"},
                                    {"volumes", "name"},
                                    {"volumeMounts", "mountPath"},
                                    {"volumeDevices", "devicePath"},
                                    {"imagePullSecrets", "name"},
                                    {"hostAliases", "ip"},
                                    {"topologySpreadConstraints", "topologyKey"},
                                    {"schedulingGates", "name"},
                                    {"resourceClaims", "name"},
                                    {"secrets", "name"},
                                    {"webhooks", "name"},
                                    {"addresses", "type"},
                                    {"podIPs", "ip"}};
  if (field == "ports") {
    return {Type::Map, info.resource.kind == "Service" ? "port" : "containerPort"};
  }
  for (const auto& rule : kRules) {
    if (rule.field == field) {
      return {Type::Map, rule.key};
    }
  }
  return {};
}

ApiResult<Json> apply_patch(const ResourceInfo& info, const Json& current, PatchKind kind,
                            const Json& patch) {
  Json changed = current;
  if (kind == PatchKind::JsonPatch) {
    if (auto applied = model::apply_json_patch(changed, patch); !applied) {
      return invalid(info, text(current, "metadata.name"),
                     {Cause{"patch", "FieldValueInvalid", applied.error().message}});
    }
    return changed;
  }
  if (!patch.is_object()) {
    return bad_request("the patch is not a JSON object");
  }
  if (kind == PatchKind::Merge) {
    model::apply_merge_patch(changed, patch);
    return changed;
  }
  if (info.custom != nullptr) {
    return Refused(ApiError{
        415,
        "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
        {}});
  }
  StrategicMerge(info).merge(changed.as_object(), patch.get_object(), {});
  return changed;
}

}  // namespace millwright::sandbox
