// Server-side apply with field ownership in the FieldsV1 form (f:<field>, k:<key>, v:<value>),
// kept only for managers that apply: other writers' fields belong to nobody here.
#include "sandbox/apiserver/store/patch.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace millwright::sandbox {

namespace {

using FieldSet = boost::json::object;

class Applier {
 public:
  explicit Applier(const ResourceInfo& info) : info_(info) {}

  // The fields that `config` sets, as a FieldsV1 tree.
  FieldSet fields_of(const boost::json::object& config, const std::string& path) const {
    FieldSet fields;
    for (const auto& [name, value] : config) {
      const auto here = path.empty() ? std::string(name) : path + "." + std::string(name);
      auto& child = fields[std::string("f:") + std::string(name)];
      child.emplace_object();
      if (value.is_object() && !value.get_object().empty()) {
        child = fields_of(value.get_object(), here);
      } else if (value.is_array()) {
        child = fields_of_list(value.get_array(), here, name);
      }
    }
    return fields;
  }

  void merge(boost::json::object& target, const boost::json::object& config,
             const std::string& path) const {
    for (const auto& [name, value] : config) {
      const auto here = path.empty() ? std::string(name) : path + "." + std::string(name);
      auto& at = target[name];
      if (value.is_object()) {
        if (!at.is_object()) {
          at.emplace_object();
        }
        merge(at.get_object(), value.get_object(), here);
      } else if (value.is_array() && at.is_array()) {
        merge_list(at.get_array(), value.get_array(), here, name);
      } else {
        at = value;
      }
    }
  }

  // Takes out what `old_fields` names and neither `new_fields` nor `others` do.
  void prune(Json& target, const FieldSet& old_fields, const FieldSet& new_fields,
             const std::vector<const FieldSet*>& others, const std::string& path,
             std::string_view field) const {
    for (const auto& [name, old_child] : old_fields) {
      const std::string_view step = name;
      const auto* new_child = new_fields.if_contains(step);
      std::vector<const FieldSet*> deeper;
      for (const auto* other : others) {
        if (const auto* child = other->if_contains(step); child != nullptr && child->is_object()) {
          deeper.push_back(&child->get_object());
        }
      }
      if (new_child == nullptr && deeper.empty()) {
        remove_step(target, step, path, field);
      } else if (auto* child = child_of(target, step, path, field);
                 child != nullptr && old_child.is_object()) {
        static const FieldSet kNone;
        const auto own = step.starts_with("f:") ? std::string(step.substr(2)) : std::string();
        prune(*child, old_child.get_object(),
              new_child != nullptr && new_child->is_object() ? new_child->get_object() : kNone,
              deeper,
              own.empty()    ? path
              : path.empty() ? own
                             : path + "." + own,
              own.empty() ? field : std::string_view(own));
      }
    }
  }

 private:
  static std::string item_step(const Json& item, std::string_view key) {
    const auto* value = find(item, key);
    return "k:" + to_text(boost::json::object{{key, value == nullptr ? Json() : *value}});
  }

  FieldSet fields_of_list(const boost::json::array& list, const std::string& path,
                          std::string_view field) const {
    FieldSet fields;
    const auto rule = list_rule(info_, path, field);
    for (const auto& item : list) {
      if (rule.type == ListRule::Type::Set) {
        fields["v:" + to_text(item)] = FieldSet{};
      } else if (rule.type == ListRule::Type::Map && item.is_object()) {
        fields[item_step(item, rule.key)] = fields_of(item.get_object(), path);
      }
    }
    return fields;
  }

  void merge_list(boost::json::array& list, const boost::json::array& config,
                  const std::string& path, std::string_view field) const {
    const auto rule = list_rule(info_, path, field);
    if (rule.type == ListRule::Type::Atomic) {
      list = config;
      return;
    }
    for (const auto& item : config) {
      const auto found = std::find_if(list.begin(), list.end(), [&](const Json& present) {
        return rule.type == ListRule::Type::Set
                   ? present == item
                   : item_step(present, rule.key) == item_step(item, rule.key);
      });
      if (found == list.end()) {
        list.push_back(item);
      } else if (item.is_object() && found->is_object()) {
        merge(found->get_object(), item.get_object(), path);
      }
    }
  }

  Json* child_of(Json& target, std::string_view step, const std::string& path,
                 std::string_view field) const {
    if (step.starts_with("f:")) {
      return target.is_object() ? target.get_object().if_contains(step.substr(2)) : nullptr;
    }
    if (!target.is_array()) {
      return nullptr;
    }
    const auto rule = list_rule(info_, path, field);
    for (auto& item : target.get_array()) {
      const auto own =
          rule.type == ListRule::Type::Set ? "v:" + to_text(item) : item_step(item, rule.key);
      if (own == step) {
        return &item;
      }
    }
    return nullptr;
  }

  void remove_step(Json& target, std::string_view step, const std::string& path,
                   std::string_view field) const {
    if (step.starts_with("f:")) {
      if (target.is_object()) {
        target.get_object().erase(step.substr(2));
      }
      return;
    }
    if (auto* item = child_of(target, step, path, field)) {
      auto& list = target.get_array();
      list.erase(list.begin() + (item - list.data()));
    }
  }

  const ResourceInfo& info_;
};

// The leaves that both sets name.
void collect_shared(const FieldSet& a, const FieldSet& b, const std::string& path,
                    std::vector<std::string>& shared) {
  for (const auto& [name, child] : a) {
    const auto* other = b.if_contains(name);
    if (other == nullptr || !child.is_object() || !other->is_object()) {
      continue;
    }
    const auto step = std::string(name.substr(2));
    const auto here = name.starts_with("f:") ? path + "." + step : path + "[" + step + "]";
    if (child.get_object().empty() && other->get_object().empty()) {
      shared.push_back(here);
    } else {
      collect_shared(child.get_object(), other->get_object(), here, shared);
    }
  }
}

// The value at ".spec.replicas"; list steps are not followed: they count as different.
const Json* value_at(const Json& json, const std::string& path) {
  return path.find('[') == std::string::npos ? find(json, path.substr(1)) : nullptr;
}

bool is_apply_entry(const Json& entry) {
  return text(entry, "operation") == "Apply";
}

std::vector<Cause> conflicts(const Json& current, const Json& configuration, const FieldSet& fields,
                             const std::string& manager) {
  std::vector<Cause> causes;
  for (const auto& entry : items(current, "metadata.managedFields")) {
    if (!is_apply_entry(entry) || text(entry, "manager") == manager) {
      continue;
    }
    std::vector<std::string> shared;
    collect_shared(fields, sandbox::fields(entry, "fieldsV1"), {}, shared);
    for (const auto& path : shared) {
      const auto* before = value_at(current, path);
      const auto* after = value_at(configuration, path);
      if (before == nullptr || after == nullptr || *before != *after) {
        causes.push_back(Cause{path, "FieldManagerConflict",
                               fmt::format("conflict with \"{}\"", text(entry, "manager"))});
      }
    }
  }
  return causes;
}

Refused conflict_error(const std::vector<Cause>& causes) {
  boost::json::array list;
  std::string all;
  for (const auto& cause : causes) {
    all += fmt::format("{}{}: {}", all.empty() ? "" : ", ", cause.message, cause.field);
    list.push_back(boost::json::object{
        {"reason", cause.reason}, {"message", cause.message}, {"field", cause.field}});
  }
  return Refused(ApiError{409, "Conflict",
                          fmt::format("Apply failed with {} conflict{}: {}", causes.size(),
                                      causes.size() == 1 ? "" : "s", all),
                          boost::json::object{{"causes", std::move(list)}}});
}

void record_ownership(Json& object, const FieldSet& fields, const ResourceInfo& info,
                      const ApplyRequest& request, const FieldSet* before) {
  auto& entries = make_array(object, "metadata.managedFields");
  if (before != nullptr && *before == fields) {
    return;  // nothing new: the entry and its time stay
  }
  entries.erase(std::remove_if(entries.begin(), entries.end(),
                               [&](const Json& entry) {
                                 return is_apply_entry(entry) &&
                                        text(entry, "manager") == request.manager;
                               }),
                entries.end());
  entries.push_back(boost::json::object{{"manager", request.manager},
                                        {"operation", "Apply"},
                                        {"apiVersion", info.resource.api_version()},
                                        {"time", request.now},
                                        {"fieldsType", "FieldsV1"},
                                        {"fieldsV1", fields}});
}

}  // namespace

ApiResult<Json> apply_configuration(const ResourceInfo& info, const Json* current,
                                    const Json& configuration, const ApplyRequest& request) {
  if (!configuration.is_object()) {
    return bad_request("the body of the request is not an object");
  }
  if (request.manager.empty()) {
    return bad_request("fieldManager is required for apply patch");
  }
  if (!items(configuration, "metadata.managedFields").empty()) {
    return bad_request("metadata.managedFields must be nil");
  }
  auto owned = configuration.get_object();
  for (const auto* field : {"apiVersion", "kind"}) {
    owned.erase(field);
  }
  if (auto* meta = owned.if_contains("metadata"); meta != nullptr && meta->is_object()) {
    for (const auto* field : {"name", "namespace", "uid", "resourceVersion", "managedFields",
                              "creationTimestamp", "generation"}) {
      meta->get_object().erase(field);
    }
  }
  const Applier applier(info);
  const auto fields = applier.fields_of(owned, {});
  Json result = current == nullptr ? Json(boost::json::object{}) : *current;
  const FieldSet* before = nullptr;
  std::vector<const FieldSet*> others;
  if (current != nullptr) {
    if (auto causes = conflicts(*current, configuration, fields, request.manager);
        !causes.empty() && !request.force) {
      return conflict_error(causes);
    }
    for (const auto& entry : items(*current, "metadata.managedFields")) {
      if (!is_apply_entry(entry)) {
        continue;
      }
      if (text(entry, "manager") == request.manager) {
        before = &sandbox::fields(entry, "fieldsV1");
      } else {
        others.push_back(&sandbox::fields(entry, "fieldsV1"));
      }
    }
    if (before != nullptr) {
      applier.prune(result, *before, fields, others, {}, {});
    }
  }
  applier.merge(result.as_object(), configuration.get_object(), {});
  record_ownership(result, fields, info, request, before);
  return result;
}

}  // namespace millwright::sandbox
