// Deleting objects: finalizers, grace periods, propagation, eviction.
#include "millwright/model/codec.hpp"
#include "sandbox/apiserver/store/registry.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace millwright::sandbox {

namespace {

constexpr std::string_view kForegroundFinalizer = "foregroundDeletion";

bool add_finalizer(Json& object, std::string_view finalizer) {
  auto& finalizers = make_array(object, "metadata.finalizers");
  for (const auto& present : finalizers) {
    if (present.is_string() && std::string_view(present.get_string()) == finalizer) {
      return false;
    }
  }
  finalizers.push_back(boost::json::string(finalizer));
  return true;
}

bool is_pod_active(const Json& pod) {
  const auto phase = text(pod, "status.phase");
  return phase != "Succeeded" && phase != "Failed";
}

bool is_pod_ready(const Json& pod) {
  for (const auto& condition : items(pod, "status.conditions")) {
    if (text(condition, "type") == "Ready") {
      return text(condition, "status") == "True";
    }
  }
  return false;
}

ApiError budget_error(const Json& budget) {
  const auto name = text(budget, "metadata.name");
  return ApiError{
      429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.",
      boost::json::object{
          {"causes",
           boost::json::array{boost::json::object{
               {"reason", "DisruptionBudget"},
               {"message",
                fmt::format("The disruption budget {} needs {} healthy pods and has {} currently",
                            name, integer(budget, "status.desiredHealthy"),
                            integer(budget, "status.currentHealthy"))}}}}}};
}

}  // namespace

void Registry::orphan_dependents(const Json& owner) {
  const auto uid = text(owner, "metadata.uid");
  for (const auto& info : all_infos()) {
    std::vector<Object> dependents;
    for (const auto& [key, object] : store_.objects(info)) {
      const auto& owners = items(*object, "metadata.ownerReferences");
      if (std::any_of(owners.begin(), owners.end(),
                      [&](const Json& reference) { return text(reference, "uid") == uid; })) {
        dependents.push_back(object);
      }
    }
    for (const auto& dependent : dependents) {
      Json changed = *dependent;
      auto& owners = make_array(changed, "metadata.ownerReferences");
      owners.erase(std::remove_if(owners.begin(), owners.end(),
                                  [&](const Json& r) { return text(r, "uid") == uid; }),
                   owners.end());
      store_.put(info, std::move(changed));
    }
  }
}

ApiResult<Removal> Registry::remove(const ResourceInfo& info, const model::ObjectKey& key,
                                    const DeleteRequest& request) {
  const auto current = store_.find(info, key);
  if (current == nullptr) {
    return not_found(info, key.name);
  }
  if (!request.uid.empty() && request.uid != text(*current, "metadata.uid")) {
    return conflict(info, key.name,
                    fmt::format("Precondition failed: UID in precondition: {}, UID in object "
                                "meta: {}",
                                request.uid, text(*current, "metadata.uid")));
  }
  if (!request.resource_version.empty() &&
      request.resource_version != text(*current, "metadata.resourceVersion")) {
    return conflict(info, key.name);
  }
  if (info.resource.kind == "Namespace" &&
      (key.name == "default" || key.name == "kube-system" || key.name == "kube-public")) {
    return forbidden(info, key.name, "this namespace may not be deleted");
  }
  if (request.dry_run) {
    return Removal{current, false};
  }
  if (info.resource.kind == "Pod") {
    return remove_pod(current, request);
  }
  if (request.propagation_policy == "Orphan") {
    orphan_dependents(*current);
  }
  Json changed = *store_.find(info, key);
  bool edited = false;
  if (request.propagation_policy == "Foreground") {
    edited = add_finalizer(changed, kForegroundFinalizer);
  }
  const bool waits =
      !items(changed, "metadata.finalizers").empty() ||
      (info.resource.kind == "Namespace" && !items(changed, "spec.finalizers").empty());
  if (!waits) {
    return Removal{store_.erase(info, key), true};
  }
  if (find(*current, "metadata.deletionTimestamp") == nullptr) {
    make(changed, "metadata.deletionTimestamp") = now_text();
    make(changed, "metadata.deletionGracePeriodSeconds") = 0;
    if (find(changed, "metadata.generation") != nullptr) {
      make(changed, "metadata.generation") = integer(changed, "metadata.generation") + 1;
    }
    if (info.resource.kind == "Namespace") {
      make(changed, "status.phase") = "Terminating";
    }
    edited = true;
  }
  return Removal{edited ? store_.put(info, std::move(changed)) : current, false};
}

ApiResult<Removal> Registry::remove_pod(const Object& pod, const DeleteRequest& request) {
  const auto& pods = info_of(model::kPodResource);
  auto grace = request.grace_period_seconds.value_or(
      integer(*pod, "spec.terminationGracePeriodSeconds", 30));
  if (text(*pod, "spec.nodeName").empty() || !is_pod_active(*pod)) {
    grace = 0;
  }
  grace = std::max<std::int64_t>(grace, 0);
  const bool finalizers = !items(*pod, "metadata.finalizers").empty();
  if (grace == 0 && !finalizers) {
    return Removal{store_.erase(pods, key_of(*pod)), true};
  }
  const bool deleting = find(*pod, "metadata.deletionTimestamp") != nullptr;
  if (deleting && integer(*pod, "metadata.deletionGracePeriodSeconds") <= grace) {
    return Removal{pod, false};
  }
  Json changed = *pod;
  make(changed, "metadata.deletionTimestamp") =
      base::format_rfc3339(now() + std::chrono::seconds(grace));
  make(changed, "metadata.deletionGracePeriodSeconds") = grace;
  return Removal{store_.put(pods, std::move(changed)), false};
}

ApiResult<Removal> Registry::evict(const model::ObjectKey& key, const DeleteRequest& request) {
  const auto& pods = info_of(model::kPodResource);
  const auto& budgets = info_of(model::kPodDisruptionBudgetResource);
  const auto pod = store_.find(pods, key);
  if (pod == nullptr) {
    return not_found(pods, key.name);
  }
  const bool counts = is_pod_active(*pod) && text(*pod, "status.phase") != "Pending" &&
                      find(*pod, "metadata.deletionTimestamp") == nullptr;
  if (!counts) {
    return remove(pods, key, request);
  }
  auto labels = model::decode_meta(*pod);
  Object covering;
  for (const auto& [budget_key, budget] : store_.objects(budgets)) {
    const auto* selector = find(*budget, "spec.selector");
    if (budget_key.namespace_ != key.namespace_ || selector == nullptr || !labels) {
      continue;
    }
    const auto decoded = model::decode_label_selector(*selector);
    if (!decoded || !decoded->matches(labels->labels)) {
      continue;
    }
    if (covering != nullptr) {
      return Refused(ApiError{500,
                              "InternalError",
                              "This pod has more than one PodDisruptionBudget, which the eviction "
                              "subresource does not support.",
                              {}});
    }
    covering = budget;
  }
  if (covering == nullptr) {
    return remove(pods, key, request);
  }
  const bool ready = is_pod_ready(*pod);
  const auto policy = text(*covering, "spec.unhealthyPodEvictionPolicy");
  const bool enough =
      integer(*covering, "status.currentHealthy") >= integer(*covering, "status.desiredHealthy") &&
      integer(*covering, "status.desiredHealthy") > 0;
  if (!ready && (policy == "AlwaysAllow" || enough)) {
    return remove(pods, key, request);
  }
  if (integer(*covering, "status.observedGeneration") < integer(*covering, "metadata.generation")) {
    auto error = budget_error(*covering);
    error.retry_after = 10;
    return Refused(std::move(error));
  }
  const auto allowed = integer(*covering, "status.disruptionsAllowed");
  if (allowed <= 0) {
    return Refused(budget_error(*covering));
  }
  if (!request.dry_run) {
    // Recorded at once, so that two evictions cannot spend one allowance.
    Json changed = *covering;
    make(changed, "status.disruptionsAllowed") = allowed - 1;
    make_object(changed, "status.disruptedPods")[key.name] = now_text();
    store_.put(budgets, std::move(changed));
  }
  return remove(pods, key, request);
}

}  // namespace millwright::sandbox
