// Defaulting and pruning, in the order of an API server: unknown fields go first, then nulls, then
// absent fields take their defaults, and defaults inside a defaulted object apply too.
#include "schema/engine/kind.hpp"

namespace millwright::schema {
namespace {

bool fill(const Field& field, json::value& value);

// Nulls that no default replaces go, as in the API server; only list items keep theirs.
bool fill_entries(const Field& value_field, json::object& entries) {
  bool changed = false;
  for (auto entry = entries.begin(); entry != entries.end();) {
    if (entry->value().is_null()) {
      entry = entries.stable_erase(entry);
      changed = true;
    } else {
      changed |= fill(value_field, entry->value());
      ++entry;
    }
  }
  return changed;
}

bool fill_members(const Field& field, json::object& fields) {
  bool changed = false;
  for (const Member& described : field.members) {
    json::value* found = fields.if_contains(described.name);
    if (found != nullptr && found->is_null() && !described.field.default_value) {
      fields.stable_erase(fields.find(described.name));
      changed = true;
      continue;
    }
    if (described.field.default_value && (found == nullptr || found->is_null())) {
      fields[described.name] = *described.field.default_value;
      changed = true;
    }
    if (json::value* present = fields.if_contains(described.name)) {
      changed |= fill(described.field, *present);
    }
  }
  return changed;
}

bool fill(const Field& field, json::value& value) {
  bool changed = false;
  if (field.type == Type::Object && value.is_object()) {
    changed = fill_members(field, value.get_object());
  } else if (field.type == Type::Map && value.is_object()) {
    changed = fill_entries(field.element.front(), value.get_object());
  } else if (field.type == Type::List && value.is_array()) {
    for (json::value& item : value.get_array()) {
      changed |= fill(field.element.front(), item);
    }
  }
  return changed;
}

void drop_unknown(const Field& field, json::value& value, const std::string& path,
                  std::vector<std::string>& dropped);

void drop_unknown_members(const Field& field, json::object& fields, const std::string& path,
                          std::vector<std::string>& dropped) {
  std::vector<std::string> unknown;
  for (auto& entry : fields) {
    const std::string name(entry.key());
    const std::string child_path = path.empty() ? name : path + "." + name;
    if (const Member* described = field.find(name)) {
      drop_unknown(described->field, entry.value(), child_path, dropped);
    } else if (!field.open) {
      unknown.push_back(name);
      dropped.push_back(child_path);
    }
  }
  for (const std::string& name : unknown) {
    // Keeps the order of what stays.
    fields.stable_erase(fields.find(name));
  }
}

void drop_unknown(const Field& field, json::value& value, const std::string& path,
                  std::vector<std::string>& dropped) {
  if (field.type == Type::Object && value.is_object()) {
    drop_unknown_members(field, value.get_object(), path, dropped);
  } else if (field.type == Type::Map && value.is_object()) {
    for (auto& entry : value.get_object()) {
      drop_unknown(field.element.front(), entry.value(),
                   path + "[" + std::string(entry.key()) + "]", dropped);
    }
  } else if (field.type == Type::List && value.is_array()) {
    json::array& items = value.get_array();
    for (std::size_t i = 0; i < items.size(); ++i) {
      drop_unknown(field.element.front(), items[i], path + "[" + std::to_string(i) + "]", dropped);
    }
  }
}

bool is_type_or_metadata(std::string_view name) {
  return name == "apiVersion" || name == "kind" || name == "metadata";
}

}  // namespace

bool apply_defaults(const Kind& kind, json::value& object) {
  return fill(kind.root, object);
}

std::vector<std::string> prune(const Kind& kind, json::value& object) {
  std::vector<std::string> dropped;
  json::object* fields = object.if_object();
  if (fields == nullptr) {
    return dropped;
  }
  std::vector<std::string> unknown;
  for (auto& entry : *fields) {
    const std::string name(entry.key());
    if (const Member* described = kind.root.find(name)) {
      drop_unknown(described->field, entry.value(), name, dropped);
    } else if (!is_type_or_metadata(name)) {
      unknown.push_back(name);
      dropped.push_back(name);
    }
  }
  for (const std::string& name : unknown) {
    fields->stable_erase(fields->find(name));
  }
  return dropped;
}

}  // namespace millwright::schema
