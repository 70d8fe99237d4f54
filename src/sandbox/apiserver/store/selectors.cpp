#include "sandbox/apiserver/store/selectors.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace millwright::sandbox {

namespace {

bool is_supported(const ResourceInfo& info, std::string_view field) {
  const auto kind = info.resource.kind;
  if (field == "metadata.name" || (field == "metadata.namespace" && info.resource.namespaced)) {
    return true;
  }
  if (kind == "Pod") {
    static constexpr std::string_view kFields[] = {
        "spec.nodeName", "spec.restartPolicy",       "spec.schedulerName",
        "status.phase",  "status.nominatedNodeName", "spec.serviceAccountName",
        "status.podIP"};
    return std::find(std::begin(kFields), std::end(kFields), field) != std::end(kFields);
  }
  if (kind == "Event") {
    static constexpr std::string_view kFields[] = {"reason", "type", "source",
                                                   "reportingComponent"};
    return field.starts_with("involvedObject.") ||
           std::find(std::begin(kFields), std::end(kFields), field) != std::end(kFields);
  }
  return (kind == "Node" && field == "spec.unschedulable") ||
         (kind == "Secret" && field == "type") ||
         (kind == "Namespace" && field == "status.phase") ||
         (kind == "Job" && field == "status.successful") ||
         (kind == "ReplicaSet" && field == "status.replicas");
}

std::string field_text(const Json& object, const std::string& path) {
  const auto* value = find(object, path);
  if (value == nullptr || value->is_null()) {
    return path == "spec.unschedulable" ? "false" : "";
  }
  return value->is_string() ? std::string(value->get_string()) : to_text(*value);
}

std::string_view trim(std::string_view part) {
  while (part.starts_with(' ')) {
    part.remove_prefix(1);
  }
  while (part.ends_with(' ')) {
    part.remove_suffix(1);
  }
  return part;
}

}  // namespace

model::StringMap labels_of(const Json& object) {
  model::StringMap labels;
  for (const auto& [key, value] : fields(object, "metadata.labels")) {
    if (value.is_string()) {
      labels.emplace(std::string(key), std::string(value.get_string()));
    }
  }
  return labels;
}

bool ObjectFilter::matches(const Json& object) const {
  if (!namespace_.empty() && text(object, "metadata.namespace") != namespace_) {
    return false;
  }
  for (const auto& field : fields) {
    if ((field_text(object, field.path) == field.value) != field.equal) {
      return false;
    }
  }
  return labels.empty() || labels.matches(labels_of(object));
}

ApiResult<ObjectFilter> parse_filter(const ResourceInfo& info, std::string ns,
                                     std::string_view label_selector,
                                     std::string_view field_selector) {
  ObjectFilter filter;
  filter.namespace_ = std::move(ns);
  if (!label_selector.empty()) {
    auto labels = model::parse_label_selector(label_selector);
    if (!labels) {
      return bad_request(fmt::format("unable to parse labelSelector \"{}\": {}", label_selector,
                                     labels.error().message));
    }
    filter.labels = *std::move(labels);
  }
  while (!field_selector.empty()) {
    const auto comma = field_selector.find(',');
    auto term = trim(field_selector.substr(0, comma));
    field_selector =
        comma == std::string_view::npos ? std::string_view{} : field_selector.substr(comma + 1);
    if (term.empty()) {
      continue;
    }
    const auto sign = term.find('=');
    if (sign == std::string_view::npos || sign == 0) {
      return bad_request(
          fmt::format("invalid field selector: '{}'; can't understand it, write "
                      "<field>=<value> or <field>!=<value>",
                      term));
    }
    FieldTerm field;
    field.equal = term[sign - 1] != '!';
    field.path = trim(term.substr(0, field.equal ? sign : sign - 1));
    field.value = trim(term.substr(term.substr(sign).starts_with("==") ? sign + 2 : sign + 1));
    if (!is_supported(info, field.path)) {
      return bad_request(fmt::format("field label not supported: {}", field.path));
    }
    filter.fields.push_back(std::move(field));
  }
  return filter;
}

}  // namespace millwright::sandbox
