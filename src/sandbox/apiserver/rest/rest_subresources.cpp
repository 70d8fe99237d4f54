// Deletes and the subresources that are verbs: eviction, binding, scale, finalize.
#include "millwright/model/codec.hpp"
#include "millwright/model/patch.hpp"
#include "sandbox/apiserver/rest/rest.hpp"
#include "sandbox/apiserver/store/patch.hpp"
#include "sandbox/apiserver/store/selectors.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <charconv>

namespace millwright::sandbox {

namespace {

Json plain_success(int code) {
  return boost::json::object{{"kind", "Status"},
                             {"apiVersion", "v1"},
                             {"metadata", boost::json::object{}},
                             {"status", "Success"},
                             {"code", code}};
}

}  // namespace

Json success_status(const ResourceInfo& info, const Json& object) {
  boost::json::object details{{"name", text(object, "metadata.name")},
                              {"kind", info.resource.plural},
                              {"uid", text(object, "metadata.uid")}};
  if (!info.resource.group.empty()) {
    details["group"] = info.resource.group;
  }
  return boost::json::object{{"kind", "Status"},
                             {"apiVersion", "v1"},
                             {"metadata", boost::json::object{}},
                             {"status", "Success"},
                             {"details", std::move(details)}};
}

DeleteRequest delete_request_of(const RestRequest& request, const Json& options) {
  DeleteRequest how;
  how.uid = text(options, "preconditions.uid");
  how.resource_version = text(options, "preconditions.resourceVersion");
  how.propagation_policy = text(options, "propagationPolicy");
  if (how.propagation_policy.empty()) {
    how.propagation_policy = request.parameter("propagationPolicy");
  }
  if (boolean(options, "orphanDependents") || request.flag("orphanDependents")) {
    how.propagation_policy = "Orphan";
  }
  if (find(options, "gracePeriodSeconds") != nullptr) {
    how.grace_period_seconds = integer(options, "gracePeriodSeconds", 30);
  } else if (const auto given = request.parameter("gracePeriodSeconds"); !given.empty()) {
    std::int64_t seconds = 30;
    std::from_chars(given.data(), given.data() + given.size(), seconds);
    how.grace_period_seconds = seconds;
  }
  const auto& modes = items(options, "dryRun");
  how.dry_run = request.dry_run() || (!modes.empty() && modes.front() == "All");
  return how;
}

RestServer::Writing RestServer::remove(RestRequest request, Json body) {
  const auto& info = *request.info;
  const auto how = delete_request_of(request, body);
  if (request.key.name.empty()) {
    co_return remove_collection(request, how);
  }
  const auto current = registry_.store().find(info, request.key);
  if (current != nullptr && admission_.applies(info, "DELETE", {})) {
    AdmissionInput input{&info, "DELETE", {}, Json(), current, how.dry_run};
    auto validated = co_await admission_.validate(std::move(input));
    MW_CO_CHECK(validated);
  }
  MW_CO_TRY(removal, registry_.remove(info, request.key, how));
  if (removal.gone && info.resource.kind != "Pod") {
    co_return Written{200, success_status(info, *removal.object), true, {}};
  }
  co_return Written{200, *removal.object, false, {}};
}

ApiResult<RestServer::Written> RestServer::remove_collection(const RestRequest& request,
                                                             const DeleteRequest& how) {
  const auto& info = *request.info;
  MW_TRY(filter, parse_filter(info, request.key.namespace_, request.parameter("labelSelector"),
                              request.parameter("fieldSelector")));
  std::vector<model::ObjectKey> keys;
  for (const auto& [key, object] : registry_.store().objects(info)) {
    if (filter.matches(*object)) {
      keys.push_back(key);
    }
  }
  boost::json::array items;
  for (const auto& key : keys) {
    if (auto removal = registry_.remove(info, key, how)) {
      items.push_back(*removal->object);
    }
  }
  const auto version = std::to_string(registry_.store().version());
  return Written{
      200,
      boost::json::object{{"kind", std::string(info.resource.kind) + "List"},
                          {"apiVersion", info.resource.api_version()},
                          {"metadata", boost::json::object{{"resourceVersion", version}}},
                          {"items", std::move(items)}},
      true,
      {}};
}

ApiResult<RestServer::Written> RestServer::evict(const RestRequest& request, const Json& body) {
  const auto* options = find(body, "deleteOptions");
  auto how =
      delete_request_of(request, options == nullptr ? Json(boost::json::object{}) : *options);
  MW_TRY(removal, registry_.evict(request.key, how));
  return Written{201, plain_success(201), true, {}};
}

ApiResult<RestServer::Written> RestServer::bind(const RestRequest& request, const Json& body) {
  const auto kind = text(body, "target.kind");
  const auto node = text(body, "target.name");
  if (node.empty() || (!kind.empty() && kind != "Node")) {
    return invalid(*request.info, request.key.name,
                   {Cause{"target.name", "FieldValueRequired", "Required value: name of a Node"}});
  }
  if (!request.dry_run()) {
    auto bound = registry_.bind(request.key, text(body, "metadata.uid"), node);
    if (!bound) {
      return tl::unexpected(std::move(bound).error());
    }
  }
  return Written{201, plain_success(201), true, {}};
}

Json scale_of(const ResourceInfo& info, const Json& object) {
  boost::json::object meta;
  for (const auto* field : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    if (const auto* value = find(object, std::string("metadata.") + field)) {
      meta[field] = *value;
    }
  }
  std::string selector;
  if (const auto* json = find(object, "spec.selector"); json != nullptr && info.custom == nullptr) {
    if (const auto decoded = model::decode_label_selector(*json)) {
      selector = model::to_string(*decoded);
    }
  }
  const auto* observed = info.custom == nullptr ? "status.replicas" : "status.nodes";
  return boost::json::object{
      {"kind", "Scale"},
      {"apiVersion", "autoscaling/v1"},
      {"metadata", std::move(meta)},
      {"spec", boost::json::object{{"replicas", integer(object, "spec.replicas")}}},
      {"status",
       boost::json::object{{"replicas", integer(object, observed)}, {"selector", selector}}}};
}

ApiResult<RestServer::Written> RestServer::scale(const RestRequest& request, const Json& body) {
  const auto& info = *request.info;
  const auto current = registry_.store().find(info, request.key);
  if (current == nullptr) {
    return not_found(info, request.key.name);
  }
  auto wanted = scale_of(info, *current);
  if (request.http.method == "PUT") {
    wanted = body;
  } else if (body.is_array()) {
    if (auto applied = model::apply_json_patch(wanted, body); !applied) {
      return bad_request(applied.error().message);
    }
  } else {
    model::apply_merge_patch(wanted, body);
  }
  const auto version = text(wanted, "metadata.resourceVersion");
  if (!version.empty() && version != text(*current, "metadata.resourceVersion")) {
    return conflict(info, request.key.name);
  }
  const auto replicas = integer(wanted, "spec.replicas");
  if (replicas < 0) {
    return invalid(
        info, request.key.name,
        {Cause{"spec.replicas", "FieldValueInvalid",
               fmt::format("Invalid value: {}: must be greater than or equal to 0", replicas)}});
  }
  if (request.dry_run()) {
    return Written{200, wanted, true, {}};
  }
  Json changed = *current;
  make(changed, "spec.replicas") = replicas;
  MW_TRY(stored, registry_.update(info, current, std::move(changed), Part::Main));
  return Written{200, scale_of(info, *stored), true, {}};
}

ApiResult<RestServer::Written> RestServer::finalize_namespace(const RestRequest& request,
                                                              const Json& body) {
  const auto& info = *request.info;
  const auto current = registry_.store().find(info, request.key);
  if (current == nullptr) {
    return not_found(info, request.key.name);
  }
  Json changed = *current;
  make(changed, "spec.finalizers") = items(body, "spec.finalizers");
  MW_TRY(stored, registry_.commit_update(info, current, std::move(changed), request.dry_run()));
  return Written{200, *stored, false, {}};
}

}  // namespace millwright::sandbox
