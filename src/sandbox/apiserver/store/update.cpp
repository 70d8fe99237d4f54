// Changing objects: what an update may touch, optimistic locks, generations, binding.
#include "millwright/model/json_fields.hpp"
#include "sandbox/apiserver/store/registry.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace millwright::sandbox {

namespace {

// Metadata that only the server writes.
void keep_system_fields(const Json& current, Json& object) {
  auto& meta = make_object(object, "metadata");
  for (const auto* field : {"name", "namespace", "uid", "creationTimestamp", "deletionTimestamp",
                            "deletionGracePeriodSeconds", "generation", "generateName"}) {
    const auto* value = find(current, std::string("metadata.") + field);
    if (value == nullptr) {
      meta.erase(field);
    } else {
      meta[field] = *value;
    }
  }
  meta["resourceVersion"] = text(current, "metadata.resourceVersion");
}

// Does anything but metadata and status differ?
bool specification_differs(const Json& a, const Json& b) {
  const auto has_all_of = [](const boost::json::object& one, const boost::json::object& other) {
    return std::all_of(other.begin(), other.end(), [&](const auto& field) {
      const auto* same = one.if_contains(field.key());
      return field.key() == "metadata" || field.key() == "status" ||
             (same != nullptr && model::same_json(*same, field.value()));
    });
  };
  return !has_all_of(a.as_object(), b.as_object()) || !has_all_of(b.as_object(), a.as_object());
}

void set_pod_scheduled(Json& pod, const std::string& now) {
  auto& conditions = make_array(pod, "status.conditions");
  boost::json::object scheduled{{"type", "PodScheduled"},
                                {"status", "True"},
                                {"lastProbeTime", nullptr},
                                {"lastTransitionTime", now}};
  for (auto& condition : conditions) {
    if (text(condition, "type") == "PodScheduled") {
      condition = std::move(scheduled);
      return;
    }
  }
  conditions.push_back(std::move(scheduled));
}

}  // namespace

ApiResult<Json> Registry::begin_update(const ResourceInfo& info, const Json& current, Json object,
                                       Part part, std::vector<std::string>* unknown) {
  if (!object.is_object()) {
    return bad_request("the body of the request is not a JSON object");
  }
  const auto name = text(current, "metadata.name");
  const auto given_uid = text(object, "metadata.uid");
  if (!given_uid.empty() && given_uid != text(current, "metadata.uid")) {
    return conflict(info, name,
                    fmt::format("Precondition failed: UID in precondition: {}, UID in object "
                                "meta: {}",
                                given_uid, text(current, "metadata.uid")));
  }
  const auto given = text(object, "metadata.resourceVersion");
  if (!given.empty() && given != "0" && given != text(current, "metadata.resourceVersion")) {
    return conflict(info, name);
  }
  object.as_object()["apiVersion"] = info.resource.api_version();
  object.as_object()["kind"] = info.resource.kind;
  if (info.custom != nullptr) {
    auto dropped = schema::prune(*info.custom, object);
    if (unknown != nullptr) {
      *unknown = std::move(dropped);
    }
  }
  if (part == Part::Status) {
    const auto* status = find(static_cast<const Json&>(object), "status");
    Json changed = current;
    if (status == nullptr) {
      erase(changed, "status");
    } else {
      changed.as_object()["status"] = *status;
    }
    return changed;
  }
  keep_system_fields(current, object);
  if (info.has_status) {
    const auto* status = find(current, "status");
    if (status == nullptr) {
      erase(object, "status");
    } else {
      object.as_object()["status"] = *status;
    }
  }
  if (info.custom != nullptr) {
    schema::apply_defaults(*info.custom, object);
  } else {
    apply_built_in_defaults(info, object, store_);
  }
  return object;
}

ApiResult<Object> Registry::commit_update(const ResourceInfo& info, const Object& current,
                                          Json object, bool dry_run) {
  const auto key = key_of(*current);
  const auto stored = store_.find(info, key);
  if (stored == nullptr) {
    return not_found(info, key.name);
  }
  if (version_of(*stored) != version_of(*current) ||
      text(*stored, "metadata.uid") != text(*current, "metadata.uid")) {
    return conflict(info, key.name);
  }
  make(object, "metadata.resourceVersion") = text(*current, "metadata.resourceVersion");
  if (find(*current, "metadata.generation") != nullptr) {
    const auto generation = integer(*current, "metadata.generation");
    make(object, "metadata.generation") =
        generation + (specification_differs(*current, object) ? 1 : 0);
  }
  const bool ends = find(object, "metadata.deletionTimestamp") != nullptr &&
                    items(object, "metadata.finalizers").empty() &&
                    integer(object, "metadata.deletionGracePeriodSeconds") == 0 &&
                    (info.resource.kind != "Namespace" || items(object, "spec.finalizers").empty());
  if (dry_run) {
    return std::make_shared<const Json>(std::move(object));
  }
  if (ends) {
    if (!model::same_json(*current, object)) {
      store_.put(info, std::move(object));
    }
    return store_.erase(info, key);
  }
  if (model::same_json(*current, object)) {
    return current;
  }
  return store_.put(info, std::move(object));
}

ApiResult<Object> Registry::update(const ResourceInfo& info, const Object& current, Json object,
                                   Part part) {
  MW_TRY(begun, begin_update(info, *current, std::move(object), part));
  MW_TRY(finished, finish(info, std::move(begun), current.get(), part));
  return commit_update(info, current, std::move(finished), false);
}

ApiResult<> Registry::bind(const model::ObjectKey& pod, std::string_view uid,
                           std::string_view node) {
  const auto& pods = info_of(model::kPodResource);
  const auto current = store_.find(pods, pod);
  if (current == nullptr) {
    return not_found(pods, pod.name);
  }
  if (!uid.empty() && uid != text(*current, "metadata.uid")) {
    return conflict(pods, pod.name, "Precondition failed: the pod has another UID");
  }
  if (find(*current, "metadata.deletionTimestamp") != nullptr) {
    return conflict(pods, pod.name,
                    fmt::format("pod {} is being deleted, cannot be assigned to a "
                                "host",
                                pod.name));
  }
  if (!items(*current, "spec.schedulingGates").empty()) {
    return conflict(pods, pod.name,
                    fmt::format("pod {} has non-empty .spec.schedulingGates", pod.name));
  }
  if (const auto bound = text(*current, "spec.nodeName"); !bound.empty()) {
    return conflict(pods, pod.name,
                    fmt::format("pod {} is already assigned to node \"{}\"", pod.name, bound));
  }
  Json changed = *current;
  make(changed, "spec.nodeName") = node;
  erase(changed, "status.nominatedNodeName");
  set_pod_scheduled(changed, now_text());
  store_.put(pods, std::move(changed));
  return {};
}

}  // namespace millwright::sandbox
