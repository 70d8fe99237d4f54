// The API's verbs as requests. Everything that is not about one verb (retries, limits, errors) is
// in Requester; paging is in list.cpp.
#include "millwright/kube/client.hpp"

#include "kube/calls/client_state.hpp"
#include "kube/calls/json.hpp"
#include "kube/calls/pacing.hpp"

#include <boost/json/serialize.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <utility>

namespace millwright::kube {
namespace {

namespace json = boost::json;
using base::ErrorKind;
using model::ObjectKey;
using model::Resource;

// A lock lost this often means that something fights us; the caller should know.
constexpr int kMaxUpdateAttempts = 20;

std::string_view content_type(PatchType type) {
  switch (type) {
    case PatchType::Json:
      return "application/json-patch+json";
    case PatchType::Strategic:
      return "application/strategic-merge-patch+json";
    case PatchType::Merge:
      break;
  }
  return "application/merge-patch+json";
}

base::Task<base::Result<json::value>> refuse(base::Error error) {
  co_return tl::unexpected(std::move(error));
}

base::Error invalid(std::string message) {
  return base::Error{ErrorKind::Invalid, std::move(message)};
}

// An object body made ready to send, and the key it is sent to.
struct Prepared {
  std::string body;
  ObjectKey key;
};

base::Result<Prepared> prepare(std::string_view verb, const Resource& resource, json::value object,
                               bool needs_name) {
  if (!object.is_object()) {
    return base::fail(ErrorKind::Invalid, std::string(verb) + " " + std::string(resource.kind) +
                                              ": the object is not a JSON object");
  }
  fill_type(object.get_object(), resource);
  Prepared prepared{.body = {}, .key = key_at(object)};
  if (!resource.namespaced) {
    prepared.key.namespace_.clear();
  }
  if (auto error = check_key(verb, resource, prepared.key, needs_name)) {
    return tl::unexpected(*std::move(error));
  }
  prepared.body = json::serialize(object);
  return prepared;
}

std::string body_of(const DeleteOptions& options, const ObjectKey* eviction) {
  json::object deletion;
  if (!options.uid.empty()) {
    deletion["preconditions"] = {{"uid", options.uid}};
  }
  if (options.grace_period_seconds) {
    deletion["gracePeriodSeconds"] = *options.grace_period_seconds;
  }
  if (!options.propagation_policy.empty()) {
    deletion["propagationPolicy"] = options.propagation_policy;
  }
  if (eviction == nullptr) {
    deletion["apiVersion"] = "v1";
    deletion["kind"] = "DeleteOptions";
    return json::serialize(deletion);
  }
  json::object body{{"apiVersion", "policy/v1"},
                    {"kind", "Eviction"},
                    {"metadata", {{"name", eviction->name}, {"namespace", eviction->namespace_}}}};
  if (!deletion.empty()) {
    body["deleteOptions"] = std::move(deletion);
  }
  return json::serialize(body);
}

}  // namespace

Client::Client(base::Loop& loop, std::shared_ptr<Transport> transport, ClientOptions options,
               base::Metrics* metrics)
    : state_(std::make_unique<State>(loop, std::move(transport), std::move(options), metrics)) {}
Client::~Client() = default;

base::Loop& Client::loop() const {
  return state_->requester.loop();
}
Transport& Client::transport() const {
  return state_->requester.transport();
}

Client::Reply<Client::Json> Client::get(Resource resource, ObjectKey key, std::stop_token stop) {
  if (auto error = check_key("get", resource, key, true)) {
    return refuse(*std::move(error));
  }
  Call call = call_for("get", resource, key);
  call.request.path = path_to(resource, key);
  return state_->requester.run(std::move(call), std::move(stop));
}

Client::Reply<Client::Json> Client::create(Resource resource, Json object, std::stop_token stop) {
  auto prepared = prepare("create", resource, std::move(object), false);
  if (!prepared) {
    return refuse(std::move(prepared).error());
  }
  Call call = call_for("create", resource, prepared->key);
  call.request.method = "POST";
  call.request.path = path_to(resource, {.namespace_ = prepared->key.namespace_, .name = {}}) +
                      state_->field_manager_query();
  call.request.body = std::move(prepared->body);
  return state_->requester.run(std::move(call), std::move(stop));
}

Client::Reply<Client::Json> Client::replace(Resource resource, Json object, std::string subresource,
                                            std::stop_token stop) {
  auto prepared = prepare("replace", resource, std::move(object), true);
  if (!prepared) {
    return refuse(std::move(prepared).error());
  }
  Call call = call_for("update", resource, prepared->key, subresource);
  call.request.method = "PUT";
  call.request.path = path_to(resource, prepared->key, subresource) + state_->field_manager_query();
  call.request.body = std::move(prepared->body);
  return state_->requester.run(std::move(call), std::move(stop));
}

Client::Reply<Client::Json> Client::patch(Resource resource, ObjectKey key, PatchType type,
                                          Json patch, std::string subresource,
                                          std::stop_token stop) {
  if (auto error = check_key("patch", resource, key, true)) {
    return refuse(*std::move(error));
  }
  Call call = call_for("patch", resource, key, subresource);
  call.request.method = "PATCH";
  call.request.path = path_to(resource, key, subresource) + state_->field_manager_query();
  call.request.content_type = content_type(type);
  call.request.body = json::serialize(patch);
  return state_->requester.run(std::move(call), std::move(stop));
}

Client::Reply<Client::Json> Client::apply(Resource resource, Json object, bool force,
                                          std::stop_token stop) {
  auto prepared = prepare("apply", resource, std::move(object), true);
  if (!prepared) {
    return refuse(std::move(prepared).error());
  }
  Call call = call_for("apply", resource, prepared->key);
  call.request.method = "PATCH";
  call.request.path = path_to(resource, prepared->key) + state_->field_manager_query() +
                      (force ? "&force=true" : "");
  // JSON is YAML, so no YAML writer is needed here.
  call.request.content_type = "application/apply-patch+yaml";
  call.request.body = std::move(prepared->body);
  return state_->requester.run(std::move(call), std::move(stop));
}

Client::Reply<Client::Json> Client::remove(Resource resource, ObjectKey key, DeleteOptions options,
                                           std::stop_token stop) {
  // Without a name this would delete the whole collection.
  if (auto error = check_key("delete", resource, key, true)) {
    return refuse(*std::move(error));
  }
  Call call = call_for("delete", resource, key);
  call.request.method = "DELETE";
  call.request.path = path_to(resource, key);
  if (options.end_of_grace) {
    call.late_body = [options = std::move(options)](base::TimePoint now) mutable {
      const base::Duration left = *options.end_of_grace - now;
      options.grace_period_seconds =
          std::max<std::int64_t>(std::chrono::duration_cast<std::chrono::seconds>(left).count(), 1);
      return body_of(options, nullptr);
    };
  } else {
    call.request.body = body_of(options, nullptr);
  }
  return state_->requester.run(std::move(call), std::move(stop));
}

Client::Reply<Client::Json> Client::evict(ObjectKey pod, DeleteOptions options,
                                          std::stop_token stop) {
  if (auto error = check_key("evict", model::kPodResource, pod, true)) {
    return refuse(*std::move(error));
  }
  Call call = call_for("evict", model::kPodResource, pod, "eviction");
  call.request.method = "POST";
  call.request.path = path_to(model::kPodResource, pod, "eviction");
  call.request.body = body_of(options, &pod);
  call.lane = Lane::Evictions;
  return state_->requester.run(std::move(call), std::move(stop));
}

Client::Reply<Client::Json> Client::bind(ObjectKey pod, std::string uid, std::string node,
                                         std::stop_token stop) {
  if (auto error = check_key("bind", model::kPodResource, pod, true)) {
    return refuse(*std::move(error));
  }
  if (node.empty()) {
    return refuse(invalid("bind Pod " + pod.to_string() + ": no node was given"));
  }
  json::object metadata{{"name", pod.name}, {"namespace", pod.namespace_}};
  if (!uid.empty()) {
    metadata["uid"] = uid;
  }
  const json::object binding{{"apiVersion", "v1"},
                             {"kind", "Binding"},
                             {"metadata", std::move(metadata)},
                             {"target", {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node}}}};
  Call call = call_for("bind", model::kPodResource, pod, "binding");
  call.request.method = "POST";
  call.request.path = path_to(model::kPodResource, pod, "binding");
  call.request.body = json::serialize(binding);
  return state_->requester.run(std::move(call), std::move(stop));
}

Client::Reply<Client::Json> Client::update(Resource resource, ObjectKey key,
                                           std::function<std::optional<Json>(const Json&)> change,
                                           std::string subresource, std::stop_token stop) {
  Backoff backoff(std::chrono::milliseconds(10), std::chrono::seconds(1));
  for (int attempt = 1;; ++attempt) {
    auto current = co_await get(resource, key, stop);
    if (!current) {
      co_return current;
    }
    auto wanted = change(*current);
    if (!wanted) {
      co_return current;
    }
    if (!wanted->is_object()) {
      co_return tl::unexpected(invalid("update " + std::string(resource.kind) + " " +
                                       key.to_string() + ": the patch is not a JSON object"));
    }
    auto& metadata = wanted->get_object()["metadata"];
    if (!metadata.is_object()) {
      metadata.emplace_object();
    }
    metadata.get_object()["resourceVersion"] = text_at(*current, "metadata.resourceVersion");
    auto answer =
        co_await patch(resource, key, PatchType::Merge, *std::move(wanted), subresource, stop);
    const bool lost = !answer && answer.error().kind == ErrorKind::Conflict;
    if (!lost || attempt >= kMaxUpdateAttempts) {
      co_return answer;
    }
    const auto delay = backoff.next(state_->requester.random());
    const bool waited = co_await base::sleep(loop(), delay, stop);
    if (!waited) {
      co_return answer;
    }
  }
}

}  // namespace millwright::kube
