// Validation, worded as the API server words it. Custom kinds have their schema; of built-in kinds
// this covers what a user can plausibly get wrong and what Millwright must never get wrong.
#include "millwright/model/codec.hpp"
#include "millwright/model/labels.hpp"
#include "sandbox/apiserver/store/registry.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace millwright::sandbox {

namespace {

Cause wrong(std::string field, const Json& value, std::string_view why) {
  return Cause{std::move(field), "FieldValueInvalid",
               fmt::format("Invalid value: {}: {}", to_text(value), why)};
}

Cause required(std::string field, std::string_view why = {}) {
  return Cause{std::move(field), "FieldValueRequired",
               why.empty() ? "Required value" : fmt::format("Required value: {}", why)};
}

bool is_lower_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool is_subdomain(std::string_view name) {
  if (name.empty() || name.size() > 253) {
    return false;
  }
  char before = '.';
  for (const char c : name) {
    const bool edge = !is_lower_alnum(c);
    if (edge && c != '-' && c != '.') {
      return false;
    }
    if ((before == '.' && edge) || (c == '.' && before == '-')) {
      return false;
    }
    before = c;
  }
  return is_lower_alnum(before);
}

void validate_labels(const Json& object, const std::string& path, std::vector<Cause>& causes) {
  const auto* labels = find(object, path);
  if (labels == nullptr || labels->is_null()) {
    return;
  }
  if (!labels->is_object()) {
    causes.push_back(wrong(path, *labels, "must be an object of strings"));
    return;
  }
  for (const auto& [key, value] : labels->get_object()) {
    if (auto problem = model::qualified_name_problem(key); !problem.empty()) {
      causes.push_back(wrong(path, Json(key), problem));
    }
    if (!value.is_string()) {
      causes.push_back(wrong(fmt::format("{}.{}", path, std::string_view(key)), value,
                             "must be a string; put it in quotes"));
    } else if (auto bad = model::label_value_problem(value.get_string()); !bad.empty()) {
      causes.push_back(wrong(path, value, bad));
    }
  }
}

void validate_metadata(const Json& object, std::vector<Cause>& causes) {
  const auto name = text(object, "metadata.name");
  if (name.empty()) {
    causes.push_back(required("metadata.name", "name or generateName is required"));
  } else if (!is_subdomain(name)) {
    causes.push_back(wrong("metadata.name", Json(name),
                           "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
                           "characters, '-' or '.', and must start and end with an alphanumeric "
                           "character"));
  }
  validate_labels(object, "metadata.labels", causes);
  for (const auto& [key, value] : fields(object, "metadata.annotations")) {
    if (!value.is_string()) {
      causes.push_back(wrong(fmt::format("metadata.annotations.{}", std::string_view(key)), value,
                             "must be a string; put it in quotes"));
    }
  }
}

void validate_container(const Json& container, const std::string& path,
                        std::set<std::string, std::less<>>& names, std::vector<Cause>& causes) {
  const auto name = text(container, "name");
  if (name.empty()) {
    causes.push_back(required(path + ".name"));
  } else if (!names.emplace(name).second) {
    causes.push_back(
        Cause{path + ".name", "FieldValueDuplicate", fmt::format("Duplicate value: \"{}\"", name)});
  }
  if (text(container, "image").empty()) {
    causes.push_back(required(path + ".image"));
  }
  for (const auto* list : {"requests", "limits"}) {
    for (const auto& [resource, value] : fields(container, std::string("resources.") + list)) {
      const auto quantity = model::Quantity::parse(
          value.is_string() ? std::string(value.get_string()) : to_text(value));
      const auto field = fmt::format("{}.resources.{}[{}]", path, list, std::string_view(resource));
      if (!quantity) {
        causes.push_back(wrong(field, value,
                               "quantities must match the regular expression "
                               "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"));
      } else if (quantity->milli() < 0) {
        causes.push_back(wrong(field, value, "must be greater than or equal to 0"));
      }
    }
  }
  for (const auto& [resource, limit] : fields(container, "resources.limits")) {
    const auto& requests = fields(container, "resources.requests");
    const auto* request = requests.if_contains(resource);
    if (request == nullptr) {
      continue;
    }
    const auto text_of = [](const Json& json) {
      return json.is_string() ? std::string(json.get_string()) : to_text(json);
    };
    const auto high = model::Quantity::parse(text_of(limit));
    const auto low = model::Quantity::parse(text_of(*request));
    if (high && low && *low > *high) {
      causes.push_back(wrong(path + ".resources.requests", *request,
                             fmt::format("must be less than or equal to {} limit of {}",
                                         std::string_view(resource), text_of(limit))));
    }
  }
}

void validate_workload(const ResourceInfo& info, const Json& object, std::vector<Cause>& causes) {
  const auto* replicas = find(object, "spec.replicas");
  if (replicas != nullptr && integer(object, "spec.replicas", -1) < 0) {
    causes.push_back(wrong("spec.replicas", *replicas, "must be greater than or equal to 0"));
  }
  const auto* selector = find(object, "spec.selector");
  if (selector == nullptr) {
    causes.push_back(required("spec.selector"));
  } else {
    const auto decoded = model::decode_label_selector(*selector);
    model::StringMap labels;
    for (const auto& [key, value] : fields(object, "spec.template.metadata.labels")) {
      labels.emplace(std::string(key), value.is_string() ? std::string(value.get_string()) : "");
    }
    if (!decoded) {
      causes.push_back(wrong("spec.selector", *selector, decoded.error().message));
    } else if (decoded->empty() || !decoded->matches(labels)) {
      const auto* given = find(object, "spec.template.metadata.labels");
      causes.push_back(wrong("spec.template.metadata.labels", given == nullptr ? Json() : *given,
                             "`selector` does not match template `labels`"));
    }
  }
  validate_labels(object, "spec.template.metadata.labels", causes);
  const auto* spec = find(object, "spec.template.spec");
  auto more = validate_pod_spec(spec == nullptr ? Json() : *spec, "spec.template.spec");
  causes.insert(causes.end(), more.begin(), more.end());
  const auto policy = text(object, "spec.template.spec.restartPolicy");
  const bool is_job = info.resource.kind == "Job";
  if (is_job == (policy == "Always")) {
    causes.push_back(Cause{"spec.template.spec.restartPolicy", "FieldValueNotSupported",
                           fmt::format("Unsupported value: \"{}\": supported values: {}", policy,
                                       is_job ? "\"OnFailure\", \"Never\"" : "\"Always\"")});
  }
}

// Spec fields that stay open on an existing pod.
Json fixed_pod_spec(const Json& pod) {
  Json spec = fields(pod, "spec");
  for (const auto* open :
       {"tolerations", "activeDeadlineSeconds", "schedulingGates", "terminationGracePeriodSeconds",
        "priority", "preemptionPolicy", "nodeSelector", "affinity"}) {
    erase(spec, open);
  }
  for (const auto* list : {"containers", "initContainers"}) {
    if (find(spec, list) != nullptr) {
      for (auto& container : make_array(spec, list)) {
        erase(container, "image");
        erase(container, "imagePullPolicy");
      }
    }
  }
  return spec;
}

}  // namespace

std::vector<Cause> validate_pod_spec(const Json& spec, const std::string& path) {
  std::vector<Cause> causes;
  if (items(spec, "containers").empty()) {
    causes.push_back(required(path + ".containers"));
  }
  std::set<std::string, std::less<>> names;
  for (const auto* list : {"initContainers", "containers"}) {
    std::size_t index = 0;
    for (const auto& container : items(spec, list)) {
      validate_container(container, fmt::format("{}.{}[{}]", path, list, index++), names, causes);
    }
  }
  if (causes.empty()) {
    Json wrapped = boost::json::object{{"metadata", boost::json::object{}}, {"spec", spec}};
    if (const auto decoded = model::decode_pod_template(wrapped); !decoded) {
      causes.push_back(Cause{path, "FieldValueInvalid", decoded.error().message});
    }
  }
  return causes;
}

std::vector<Cause> validate_unchanged(const ResourceInfo& info, const Json& object,
                                      const Json& current) {
  std::vector<Cause> causes;
  const auto kind = info.resource.kind;
  if (kind == "Pod" && !model::same_json(fixed_pod_spec(object), fixed_pod_spec(current))) {
    causes.push_back(
        Cause{"spec", "FieldValueForbidden",
              "Forbidden: pod updates may not change fields other than "
              "`spec.containers[*].image`,`spec.initContainers[*].image`,"
              "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing "
              "tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it "
              "was previously negative)"});
  }
  if (kind == "Deployment" || kind == "ReplicaSet" || kind == "DaemonSet" ||
      kind == "StatefulSet" || kind == "Job") {
    const auto* before = find(current, "spec.selector");
    const auto* after = find(object, "spec.selector");
    if (before != nullptr && after != nullptr && !model::same_json(*before, *after)) {
      causes.push_back(wrong("spec.selector", *after, "field is immutable"));
    }
  }
  if (kind == "Job") {
    const auto* before = find(current, "spec.template");
    const auto* after = find(object, "spec.template");
    if (before != nullptr && after != nullptr && !model::same_json(*before, *after)) {
      causes.push_back(wrong("spec.template", *after, "field is immutable"));
    }
  }
  if (kind == "Node") {
    const auto before = text(current, "spec.providerID");
    const auto after = text(object, "spec.providerID");
    if (!before.empty() && before != after) {
      causes.push_back(Cause{"spec.providerID", "FieldValueForbidden",
                             "Forbidden: node updates may not change providerID except from \"\" "
                             "to valid"});
    }
  }
  return causes;
}

std::vector<Cause> validate_object(const ResourceInfo& info, const Json& object,
                                   const Json* current) {
  std::vector<Cause> causes;
  validate_metadata(object, causes);
  if (info.custom != nullptr) {
    for (const auto& problem : schema::validate_structure(*info.custom, object, current)) {
      const auto whole = problem.to_string();
      const auto prefix = problem.path + ": ";
      causes.push_back(Cause{problem.path, "FieldValueInvalid",
                             whole.starts_with(prefix) ? whole.substr(prefix.size()) : whole});
    }
    return causes;
  }
  const auto kind = info.resource.kind;
  if (kind == "Pod") {
    const auto* spec = find(object, "spec");
    auto more = validate_pod_spec(spec == nullptr ? Json() : *spec, "spec");
    causes.insert(causes.end(), more.begin(), more.end());
  } else if (kind == "Deployment" || kind == "ReplicaSet" || kind == "StatefulSet" ||
             kind == "DaemonSet" || kind == "Job") {
    validate_workload(info, object, causes);
  } else if (kind == "PodDisruptionBudget" && find(object, "spec.minAvailable") != nullptr &&
             find(object, "spec.maxUnavailable") != nullptr) {
    causes.push_back(wrong("spec", fields(object, "spec"),
                           "minAvailable and maxUnavailable cannot be both set"));
  }
  if (current != nullptr) {
    auto more = validate_unchanged(info, object, *current);
    causes.insert(causes.end(), more.begin(), more.end());
  }
  return causes;
}

}  // namespace millwright::sandbox
