#include "millwright/controllers/pools/nodeclass.hpp"

#include "controllers/pools/hash_stamps.hpp"
#include "millwright/cloud/error_text.hpp"
#include "millwright/model/codec.hpp"
#include "millwright/model/conditions.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace millwright::controllers {
namespace {

namespace json = boost::json;
using NodeClassPtr = std::shared_ptr<const model::NodeClass>;

// Images and subnets change without an event of ours.
constexpr auto kResolveAgain = std::chrono::minutes(5);
constexpr auto kNotReadyAgain = std::chrono::seconds(30);

NodeClassPtr find_by_key(const scheduling::Snapshot& snapshot, std::string_view key) {
  const auto found =
      std::find_if(snapshot.node_classes.begin(), snapshot.node_classes.end(),
                   [&](const auto& each) { return model::reference_to(*each).text() == key; });
  return found == snapshot.node_classes.end() ? nullptr : *found;
}

// The members of `wanted` that `present` does not have with the same value; null is to be absent.
json::object difference(const json::value& wanted, const json::value& present) {
  json::object changed;
  if (!wanted.is_object()) {
    return changed;
  }
  for (const auto& [key, value] : wanted.as_object()) {
    const auto* existing = present.is_object() ? present.as_object().if_contains(key) : nullptr;
    const bool same = existing == nullptr ? value.is_null() : *existing == value;
    if (!same) {
      changed[key] = value;
    }
  }
  return changed;
}

// A merge patch that replaces the finalizers of exactly this version of the object.
json::value finalizers_patch(const model::ObjectMeta& meta, json::array finalizers) {
  json::object metadata{{"resourceVersion", meta.resource_version}};
  metadata["finalizers"] = std::move(finalizers);
  return json::object{{"metadata", std::move(metadata)}};
}

base::Task<base::Result<json::value>> patch_node_class(Services& services, NodeClassPtr node_class,
                                                       json::value patch,
                                                       std::string subresource = {}) {
  const auto* resource = model::find_by_kind(node_class->api_version, node_class->kind);
  co_return co_await services.client.patch(*resource, model::key_of(node_class->meta),
                                           kube::PatchType::Merge, std::move(patch),
                                           std::move(subresource));
}

std::vector<std::shared_ptr<const model::NodeClaim>> claims_of_class(
    const scheduling::Snapshot& snapshot, const model::NodeClass& node_class) {
  const auto reference = model::reference_to(node_class);
  std::vector<std::shared_ptr<const model::NodeClaim>> claims;
  for (const auto& record : snapshot.nodes) {
    if (record->claim && record->claim->node_class_ref == reference) {
      claims.push_back(record->claim);
    }
  }
  return claims;
}

// Karpenter's rule forgives a change that was made while nobody led: that is said, not prevented.
void tell_forgiven_change(Services& services, const model::NodeClass& node_class,
                          const model::HashStamp& stamp) {
  const std::string& version = node_class.meta.annotation(stamp.version_key);
  const auto earlier = stamp.earlier.find(version);
  if (earlier == stamp.earlier.end() || node_class.meta.annotation(stamp.key) == earlier->second) {
    return;
  }
  const auto* resource = model::find_by_kind(node_class.api_version, node_class.kind);
  constexpr std::string_view kAdvice =
      ", and it, or the API server's CA, was changed after that was written; its nodes count as up "
      "to date all the same. Delete the NodeClaims of those that must have the change";
  std::string message = node_class.kind + " " + node_class.meta.name;
  message.append(" has a hash of version ").append(version).append(kAdvice);
  services.events.record({.object = kube::reference_to(*resource, node_class.meta),
                          .warning = true,
                          .reason = "HashVersionChanged",
                          .message = std::move(message),
                          .dedupe_values = {}});
}

base::Task<base::Result<>> write_stamp(Services& services, NodeClassPtr node_class,
                                       model::HashStamp stamp) {
  if (has_stamp(node_class->meta, stamp)) {
    co_return base::Result<>{};
  }
  if (node_class->meta.annotation(stamp.version_key) != stamp.version) {
    auto claims = claims_of_class(*services.state.snapshot(), *node_class);
    MW_CO_CHECK(co_await stamp_anew(services, std::move(claims), stamp));
    tell_forgiven_change(services, *node_class, stamp);
  }
  json::object patch{{"metadata", {{"annotations", annotations_of(stamp)}}}};
  MW_CO_CHECK(co_await patch_node_class(services, node_class, std::move(patch)));
  co_return base::Result<>{};
}

void write_conditions(model::ConditionSet& set, const cloud::NodeClassState& resolved) {
  for (const auto& part : resolved.conditions) {
    if (part.good) {
      set.set_true(part.type);
    } else if (part.is_unknown) {
      set.set_unknown(part.type, part.reason, cloud::lasting_text(part.message));
    } else {
      set.set_false(part.type, part.reason, cloud::lasting_text(part.message));
    }
  }
  if (resolved.ready) {
    set.set_true(model::kReady);
  } else {
    set.set_false(model::kReady, resolved.reason, cloud::lasting_text(resolved.message));
  }
}

// With what the conditions leave out, such as the ids of requests that AWS asks for.
void log_not_ready(const Services& services, const model::NodeClass& node_class,
                   const cloud::NodeClassState& resolved) {
  services.log.warn("nodeclass is not ready", {{node_class.kind, node_class.meta.name},
                                               {"reason", resolved.reason},
                                               {"message", resolved.message}});
}

base::Task<base::Result<>> write_status(Services& services, NodeClassPtr node_class,
                                        cloud::NodeClassState resolved) {
  json::object status = difference(resolved.status, node_class->status);
  auto conditions = node_class->conditions;
  model::ConditionSet set(conditions, node_class->meta, {}, services.loop.now());
  write_conditions(set, resolved);
  if (set.changed()) {
    if (!resolved.ready) {
      log_not_ready(services, *node_class, resolved);
    }
    status["conditions"] = model::encode(conditions);
  }
  if (!status.empty()) {
    json::object patch{{"status", std::move(status)}};
    MW_CO_TRY(object, co_await patch_node_class(services, node_class, std::move(patch), "status"));
    MW_CO_TRY(updated, model::decode<model::NodeClass>(object));
    services.state.answered(std::make_shared<const model::NodeClass>(std::move(updated)));
  }
  co_return base::Result<>{};
}

}  // namespace

NodeClasses::NodeClasses(Services& services)
    : services_(services),
      reconciler_(
          reconciler_context(services, "nodeclass", ""),
          [this](std::string key, base::Logger, std::stop_token) {
            return reconcile(std::move(key));
          },
          ReconcilerOptions{.max_concurrent = 10}) {}

base::Task<base::Result<>> NodeClasses::keep_finalizer(NodeClassPtr node_class,
                                                       std::string finalizer) {
  if (finalizer.empty() || node_class->meta.has_finalizer(finalizer)) {
    co_return base::Result<>{};
  }
  json::array finalizers(node_class->meta.finalizers.begin(), node_class->meta.finalizers.end());
  finalizers.emplace_back(finalizer);
  json::value patch = finalizers_patch(node_class->meta, std::move(finalizers));
  MW_CO_CHECK(co_await patch_node_class(services_, node_class, std::move(patch)));
  co_return base::Result<>{};
}

// Karpenter's nodeclass.termination: instances keep what was made for their class.
base::Task<base::Result<Requeue>> NodeClasses::finalize(NodeClassPtr node_class,
                                                        cloud::Provider* provider) {
  const auto finalizer = provider->node_class_finalizer(*node_class);
  if (finalizer.empty() || !node_class->meta.has_finalizer(finalizer)) {
    co_return Requeue{};
  }
  const auto snapshot = services_.state.snapshot();
  if (!claims_of_class(*snapshot, *node_class).empty()) {
    co_return Requeue{kNotReadyAgain};
  }
  auto released = co_await provider->release(node_class);
  if (!released) {
    co_return base::with_context("releasing " + node_class->kind + " " + node_class->meta.name,
                                 std::move(released).error());
  }
  json::array finalizers;
  for (const auto& each : node_class->meta.finalizers) {
    if (each != finalizer) {
      finalizers.emplace_back(each);
    }
  }
  json::value patch = finalizers_patch(node_class->meta, std::move(finalizers));
  MW_CO_CHECK(ignore_not_found(co_await patch_node_class(services_, node_class, std::move(patch))));
  co_return Requeue{};
}

base::Task<base::Result<Requeue>> NodeClasses::reconcile(std::string key) {
  const auto node_class = find_by_key(*services_.state.snapshot(), key);
  if (!node_class) {
    co_return Requeue{};
  }
  cloud::Provider* provider =
      services_.providers.find(model::api_group(node_class->api_version), node_class->kind);
  if (provider == nullptr ||
      model::find_by_kind(node_class->api_version, node_class->kind) == nullptr) {
    co_return Requeue{};
  }
  if (node_class->meta.is_deleting()) {
    co_return co_await finalize(node_class, provider);
  }
  std::string finalizer(provider->node_class_finalizer(*node_class));
  MW_CO_CHECK(co_await keep_finalizer(node_class, std::move(finalizer)));
  auto resolved = co_await provider->resolve(node_class);
  if (!resolved) {
    co_return base::with_context("resolving " + key, std::move(resolved).error());
  }
  if (const auto stamp = resolved->stamp) {
    MW_CO_CHECK(co_await write_stamp(services_, node_class, *stamp));
  }
  MW_CO_CHECK(co_await write_status(services_, node_class, *resolved));
  co_return Requeue{resolved->ready ? kResolveAgain : kNotReadyAgain};
}

}  // namespace millwright::controllers
