// Creating objects: namespaces, names, system metadata, initial status.
#include "sandbox/apiserver/store/registry.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <utility>

namespace millwright::sandbox {

namespace {

constexpr std::size_t kSuffixLength = 5;
constexpr std::size_t kMaxGeneratedBase = 63 - kSuffixLength;

ApiResult<> check_type(const ResourceInfo& info, Json& object) {
  if (!object.is_object()) {
    return bad_request("the body of the request is not a JSON object");
  }
  const auto wanted = info.resource.api_version();
  const auto version = text(object, "apiVersion");
  const auto kind = text(object, "kind");
  if ((!version.empty() && version != wanted) || (!kind.empty() && kind != info.resource.kind)) {
    return bad_request(
        fmt::format("{}, Kind={} in the body of the request does not match {}, "
                    "Kind={} of the URL",
                    version, kind, wanted, info.resource.kind));
  }
  object.as_object()["apiVersion"] = wanted;
  object.as_object()["kind"] = info.resource.kind;
  make_object(object, "metadata");
  return {};
}

void set_initial_status(const ResourceInfo& info, Json& object) {
  const auto kind = info.resource.kind;
  if (kind == "Node" || !info.has_status) {
    return;  // a kubelet registers its Node with a status
  }
  object.as_object().erase("status");
  if (kind == "Pod" || kind == "PersistentVolumeClaim" || kind == "PersistentVolume") {
    make(object, "status.phase") = "Pending";
    if (!items(object, "spec.schedulingGates").empty()) {
      make_array(object, "status.conditions")
          .push_back(boost::json::object{
              {"type", "PodScheduled"},
              {"status", "False"},
              {"reason", "SchedulingGated"},
              {"message", "Scheduling is blocked due to non-empty scheduling gates"},
              {"lastProbeTime", nullptr},
              {"lastTransitionTime", nullptr}});
    }
  } else if (kind == "Namespace") {
    make(object, "status.phase") = "Active";
    make(object, "spec.finalizers") = boost::json::array{"kubernetes"};
    // A copy: making the labels may move what the metadata holds.
    const std::string name(text(object, "metadata.name"));
    make_object(object, "metadata.labels")["kubernetes.io/metadata.name"] = name;
  } else if (info.custom == nullptr) {
    make_object(object, "status");
  }
}

// NodeAdmission's TaintNodesByCondition: nobody lands on a node before it says that it is ready.
void taint_new_node(Json& node) {
  auto& taints = make_array(node, "spec.taints");
  for (const auto& taint : taints) {
    if (text(taint, "key") == "node.kubernetes.io/not-ready" &&
        text(taint, "effect") == "NoSchedule") {
      return;
    }
  }
  taints.push_back(
      boost::json::object{{"key", "node.kubernetes.io/not-ready"}, {"effect", "NoSchedule"}});
}

bool has_generation(const ResourceInfo& info) {
  const auto kind = info.resource.kind;
  return info.custom != nullptr ||
         (info.has_status && kind != "Pod" && kind != "Node" && kind != "Namespace" &&
          kind != "PersistentVolume" && kind != "PersistentVolumeClaim" && kind != "Service") ||
         kind == "ValidatingWebhookConfiguration" || kind == "MutatingWebhookConfiguration";
}

}  // namespace

Registry::Registry(base::Loop& loop, Store& store, std::uint64_t seed)
    : loop_(loop), store_(store), random_(seed) {}

std::string Registry::now_text() const {
  return base::format_rfc3339(loop_.now());
}

ApiResult<> Registry::check_namespace(const ResourceInfo& info, std::string_view ns) const {
  if (!info.resource.namespaced) {
    return {};
  }
  const auto& namespaces = info_of(model::kNamespaceResource);
  const auto found = store_.find(namespaces, {{}, std::string(ns)});
  if (found == nullptr) {
    return not_found(namespaces, ns);
  }
  if (text(*found, "status.phase") == "Terminating") {
    return forbidden(info, {},
                     fmt::format("unable to create new content in namespace {} because it is "
                                 "being terminated",
                                 ns));
  }
  return {};
}

void Registry::fill_system_fields(const ResourceInfo& info, Json& object) {
  auto& meta = make_object(object, "metadata");
  const auto base = std::string(text(object, "metadata.generateName"));
  if (text(object, "metadata.name").empty() && !base.empty()) {
    meta["name"] = base.substr(0, kMaxGeneratedBase) + random_.suffix(kSuffixLength);
  }
  meta["uid"] = random_.uuid();
  meta["creationTimestamp"] = now_text();
  for (const auto* field : {"resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds",
                            "selfLink", "generation"}) {
    meta.erase(field);
  }
  if (has_generation(info)) {
    meta["generation"] = 1;
  }
}

ApiResult<Json> Registry::begin_create(const ResourceInfo& info, Json object, std::string_view ns,
                                       std::vector<std::string>* unknown) {
  if (auto checked = check_type(info, object); !checked) {
    return tl::unexpected(std::move(checked).error());
  }
  if (info.custom != nullptr) {
    auto dropped = schema::prune(*info.custom, object);
    if (unknown != nullptr) {
      *unknown = std::move(dropped);
    }
  }
  if (info.resource.namespaced) {
    const auto own = text(object, "metadata.namespace");
    if (!own.empty() && !ns.empty() && own != ns) {
      return bad_request(
          fmt::format("the namespace of the provided object does not match the "
                      "namespace sent on the request ({} and {})",
                      own, ns));
    }
    if (own.empty()) {
      make(object, "metadata.namespace") = ns.empty() ? std::string_view("default") : ns;
    }
  } else {
    erase(object, "metadata.namespace");
  }
  if (auto checked = check_namespace(info, text(object, "metadata.namespace")); !checked) {
    return tl::unexpected(std::move(checked).error());
  }
  fill_system_fields(info, object);
  set_initial_status(info, object);
  if (info.resource.kind == "Node") {
    taint_new_node(object);
  }
  if (info.custom != nullptr) {
    schema::apply_defaults(*info.custom, object);
  } else {
    apply_built_in_defaults(info, object, store_);
  }
  return object;
}

ApiResult<Json> Registry::finish(const ResourceInfo& info, Json object, const Json* current,
                                 Part part) {
  if (part == Part::Main) {
    if (info.custom != nullptr) {
      schema::prune(*info.custom, object);
      schema::apply_defaults(*info.custom, object);
    } else {
      apply_built_in_defaults(info, object, store_);
    }
  }
  auto causes = validate_object(info, object, current);
  if (!causes.empty()) {
    return invalid(info, text(object, "metadata.name"), std::move(causes));
  }
  return object;
}

ApiResult<Object> Registry::commit_create(const ResourceInfo& info, Json object, bool dry_run) {
  const auto key = key_of(object);
  if (store_.find(info, key) != nullptr) {
    return already_exists(info, key.name);
  }
  if (dry_run) {
    return std::make_shared<const Json>(std::move(object));
  }
  return store_.put(info, std::move(object));
}

ApiResult<Object> Registry::create(const ResourceInfo& info, Json object, std::string_view ns) {
  MW_TRY(begun, begin_create(info, std::move(object), ns));
  MW_TRY(finished, finish(info, std::move(begun), nullptr, Part::Main));
  return commit_create(info, std::move(finished), false);
}

ApiResult<Object> Registry::restore(const ResourceInfo& info, Json object) {
  MW_TRY(begun, begin_create(info, object, {}));
  for (const auto* field : {"uid", "creationTimestamp", "deletionTimestamp",
                            "deletionGracePeriodSeconds", "generation"}) {
    const auto path = std::string("metadata.") + field;
    if (const auto* value = find(std::as_const(object), path);
        value != nullptr && !value->is_null()) {
      make(begun, path) = *value;
    }
  }
  erase(begun, "metadata.managedFields");
  if (const auto* status = find(std::as_const(object), "status")) {
    begun.as_object()["status"] = *status;
  }
  if (info.resource.kind == "Node") {
    const auto* taints = find(std::as_const(object), "spec.taints");
    make(begun, "spec.taints") = taints == nullptr ? Json(boost::json::array{}) : *taints;
  }
  MW_TRY(finished, finish(info, std::move(begun), nullptr, Part::Main));
  return commit_create(info, std::move(finished), false);
}

}  // namespace millwright::sandbox
