// CustomResourceDefinitions (apiextensions.k8s.io/v1) from the field trees: structural schemas with
// CEL rules, so that everything local to a field holds with the webhook down too.
#include "millwright/model/codec.hpp"
#include "schema/engine/kind.hpp"

#include <algorithm>
#include <string>

namespace millwright::schema {
namespace {

std::string lower_case(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return result;
}

template <class Texts>
json::array text_array(const Texts& texts) {
  json::array result;
  for (const auto& text : texts) {
    result.emplace_back(std::string_view(text));
  }
  return result;
}

void put_bounds(const Field& field, json::object& out, const char* least, const char* most) {
  if (field.least_size) {
    out[least] = *field.least_size;
  }
  if (field.most_size) {
    out[most] = *field.most_size;
  }
}

void put_rules(const Field& field, json::object& out) {
  json::array rules;
  for (const EntryRule& rule : field.entry_rules) {
    rules.push_back({{"rule", "self.all(k, " + rule.cel + ")"}, {"message", rule.message}});
  }
  for (const Rule& rule : field.rules) {
    rules.push_back({{"rule", rule.cel}, {"message", rule.message}});
  }
  if (!rules.empty()) {
    out["x-kubernetes-validations"] = std::move(rules);
  }
}

json::object structural(const Field& field);

void put_object(const Field& field, json::object& out) {
  out["type"] = "object";
  json::object properties;
  json::array required;
  for (const Member& described : field.members) {
    properties[described.name] = structural(described.field);
    if (described.required) {
      required.emplace_back(described.name);
    }
  }
  if (!required.empty()) {
    out["required"] = std::move(required);
  }
  if (!properties.empty()) {
    out["properties"] = std::move(properties);
  }
  if (field.open) {
    out["x-kubernetes-preserve-unknown-fields"] = true;
  }
}

void put_map(const Field& field, json::object& out) {
  out["type"] = "object";
  put_bounds(field, out, "minProperties", "maxProperties");
  out["additionalProperties"] = structural(field.element.front());
  if (field.atomic_map) {
    out["x-kubernetes-map-type"] = "atomic";
  }
}

void put_list(const Field& field, json::object& out) {
  out["type"] = "array";
  put_bounds(field, out, "minItems", "maxItems");
  out["items"] = structural(field.element.front());
  switch (field.list_type) {
    case ListType::Atomic:
      out["x-kubernetes-list-type"] = "atomic";
      break;
    case ListType::Set:
      out["x-kubernetes-list-type"] = "set";
      break;
    case ListType::Map:
      out["x-kubernetes-list-type"] = "map";
      out["x-kubernetes-list-map-keys"] = text_array(field.list_keys);
      break;
  }
}

void put_scalar(const Field& field, json::object& out) {
  switch (field.type) {
    case Type::Integer:
      out["type"] = "integer";
      out["format"] = field.format == Format::Int32 ? "int32" : "int64";
      break;
    case Type::Number:
      out["type"] = "number";
      break;
    case Type::Boolean:
      out["type"] = "boolean";
      break;
    case Type::Quantity:
      out["anyOf"] = json::array{{{"type", "integer"}}, {{"type", "string"}}};
      out["x-kubernetes-int-or-string"] = true;
      break;
    default:
      out["type"] = "string";
      if (field.format != Format::None) {
        out["format"] = field.format == Format::DateTime ? "date-time" : "password";
      }
  }
  if (!field.accepted.empty()) {
    out["enum"] = text_array(field.accepted);
  }
  if (field.pattern_rule != nullptr) {
    out["pattern"] = field.pattern_rule->regex();
  }
  if (field.minimum) {
    out["minimum"] = *field.minimum;
  }
  if (field.maximum) {
    out["maximum"] = *field.maximum;
  }
  put_bounds(field, out, "minLength", "maxLength");
}

json::object structural(const Field& field) {
  json::object out;
  out["description"] = field.description;
  if (field.default_value) {
    out["default"] = *field.default_value;
  }
  switch (field.type) {
    case Type::Object:
      put_object(field, out);
      break;
    case Type::Map:
      put_map(field, out);
      break;
    case Type::List:
      put_list(field, out);
      break;
    default:
      put_scalar(field, out);
  }
  put_rules(field, out);
  return out;
}

json::object root_schema(const Kind& kind) {
  json::object schema = structural(kind.root);
  json::object properties{
      {"apiVersion",
       {{"description", "Version of the schema this object is written in."}, {"type", "string"}}},
      {"kind", {{"description", "Kind of this object."}, {"type", "string"}}},
      {"metadata", {{"type", "object"}}}};
  for (const auto& [name, property] : schema["properties"].get_object()) {
    properties[name] = property;
  }
  schema["properties"] = std::move(properties);
  return schema;
}

json::array column_array(const Kind& kind) {
  json::array columns;
  for (const PrinterColumn& column : kind.columns) {
    json::object out{{"name", column.name}, {"type", column.type}, {"jsonPath", column.json_path}};
    if (column.wide) {
      out["priority"] = 1;
    }
    columns.push_back(std::move(out));
  }
  return columns;
}

json::object version(const Kind& kind) {
  json::object subresources{{"status", json::object{}}};
  if (kind.scalable) {
    subresources["scale"] = {{"specReplicasPath", ".spec.replicas"},
                             {"statusReplicasPath", ".status.nodes"}};
  }
  json::object out{{"name", kind.resource.version}, {"served", true}, {"storage", true}};
  if (!kind.columns.empty()) {
    out["additionalPrinterColumns"] = column_array(kind);
  }
  out["subresources"] = std::move(subresources);
  out["schema"] = {{"openAPIV3Schema", root_schema(kind)}};
  return out;
}

}  // namespace

json::value crd(const Kind& kind) {
  const model::Resource& resource = kind.resource;
  json::object names{{"kind", resource.kind},
                     {"listKind", std::string(resource.kind) + "List"},
                     {"plural", resource.plural},
                     {"singular", lower_case(resource.kind)}};
  if (!kind.short_names.empty()) {
    names["shortNames"] = text_array(kind.short_names);
  }
  if (!kind.categories.empty()) {
    names["categories"] = text_array(kind.categories);
  }
  return {
      {"apiVersion", "apiextensions.k8s.io/v1"},
      {"kind", "CustomResourceDefinition"},
      {"metadata", {{"name", std::string(resource.plural) + "." + std::string(resource.group)}}},
      {"spec",
       {{"group", resource.group},
        {"names", std::move(names)},
        {"scope", resource.namespaced ? "Namespaced" : "Cluster"},
        {"versions", json::array{version(kind)}}}}};
}

std::string crd_yaml(const Kind& kind) {
  return model::to_yaml(crd(kind));
}

}  // namespace millwright::schema
