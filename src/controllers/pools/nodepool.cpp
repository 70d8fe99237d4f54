#include "millwright/controllers/pools/nodepool.hpp"

#include "controllers/pools/hash_stamps.hpp"
#include "controllers/pools/pool_reports.hpp"
#include "millwright/controllers/pools/registration_health.hpp"
#include "millwright/model/codec.hpp"
#include "millwright/model/conditions.hpp"
#include "millwright/schema/schema.hpp"

#include <boost/json.hpp>

#include <vector>

namespace millwright::controllers {
namespace {

namespace json = boost::json;
using PoolPtr = std::shared_ptr<const model::NodePool>;

// A burst changes the sums with each of its claims; nobody reads them so often.
constexpr auto kUsagePeriod = std::chrono::seconds(1);

struct Usage {
  model::ResourceList resources;
  std::int64_t nodes = 0;
};

Usage usage_of(const scheduling::Snapshot& snapshot, std::string_view pool) {
  Usage usage;
  for (const auto* name : {"cpu", "memory", "pods", "ephemeral-storage"}) {
    usage.resources.emplace(name, model::Quantity());
  }
  for (const auto& record : snapshot.nodes) {
    if (record->node_pool() == pool && !record->marked_for_deletion) {
      model::add_to(usage.resources, record->capacity());
      ++usage.nodes;
    }
  }
  usage.resources.insert_or_assign("nodes", model::Quantity::from_units(usage.nodes));
  return usage;
}

// A merge patch leaves what it does not name: null for what no node of the pool has any more.
json::value resources_patch(const model::NodePool& pool, const model::ResourceList& used) {
  json::value patch = model::encode(used);
  for (const auto& [resource, amount] : pool.resources) {
    if (!used.contains(resource)) {
      patch.as_object()[resource] = nullptr;
    }
  }
  return patch;
}

void judge_node_class(model::ConditionSet& set, const Services& services,
                      const scheduling::Snapshot& snapshot, const model::NodePool& pool) {
  const auto& ref = pool.template_.node_class_ref;
  const auto node_class = find_node_class(snapshot, ref);
  if (!is_managed(services, ref)) {
    set.set_false(
        model::kNodeClassReady, "NodeClassNotFound",
        "No cloud of this installation serves NodeClass kind " + ref.kind + "." + ref.group);
  } else if (!node_class) {
    set.set_false(model::kNodeClassReady, "NodeClassNotFound",
                  ref.kind + " " + ref.name + " does not exist; create it");
  } else if (node_class->meta.is_deleting()) {
    set.set_false(model::kNodeClassReady, "NodeClassTerminating",
                  ref.kind + " " + ref.name + " is being deleted");
  } else {
    const auto* ready = model::find_condition(node_class->conditions, model::kReady);
    if (ready == nullptr || ready->status == model::ConditionStatus::Unknown) {
      set.set_unknown(model::kNodeClassReady, "NodeClassReadinessUnknown",
                      "Node Class Readiness Unknown");
    } else if (ready->status == model::ConditionStatus::True) {
      set.set_true(model::kNodeClassReady);
    } else {
      set.set_false(model::kNodeClassReady, ready->reason, ready->message);
    }
  }
}

void judge_validity(model::ConditionSet& set, const model::NodePool& pool) {
  const auto* kind = schema::find_kind(model::kNodePoolResource.api_version(), "NodePool");
  const auto problems = schema::validate(*kind, model::encode(pool));
  if (problems.empty()) {
    set.set_true(model::kValidationSucceeded);
    return;
  }
  std::string message;
  for (const auto& problem : problems) {
    message += (message.empty() ? "" : "; ") + problem.to_string();
  }
  set.set_false(model::kValidationSucceeded, "NodePoolValidationFailed", message);
}

base::Task<base::Result<PoolPtr>> patch_pool(Services& services, PoolPtr pool, json::value patch,
                                             std::string subresource) {
  MW_CO_TRY(object, co_await services.client.patch(
                        model::kNodePoolResource, model::key_of(pool->meta), kube::PatchType::Merge,
                        std::move(patch), std::move(subresource)));
  MW_CO_TRY(updated, model::decode<model::NodePool>(object));
  auto result = std::make_shared<const model::NodePool>(std::move(updated));
  services.state.answered(result);
  co_return result;
}

model::HashStamp stamp_of(const model::NodePool& pool) {
  return {.key = std::string(model::kNodePoolHashAnnotation),
          .version_key = std::string(model::kNodePoolHashVersionAnnotation),
          .hash = model::nodepool_hash(pool.template_),
          .version = std::string(model::kNodePoolHashVersion),
          .earlier = {}};
}

std::vector<std::shared_ptr<const model::NodeClaim>> claims_of_pool(
    const scheduling::Snapshot& snapshot, std::string_view pool) {
  std::vector<std::shared_ptr<const model::NodeClaim>> claims;
  for (const auto& record : snapshot.nodes) {
    if (record->claim && record->node_pool() == pool) {
      claims.push_back(record->claim);
    }
  }
  return claims;
}

base::Task<base::Result<PoolPtr>> keep_hash(Services& services, PoolPtr pool) {
  const model::HashStamp stamp = stamp_of(*pool);
  if (has_stamp(pool->meta, stamp)) {
    co_return pool;
  }
  if (pool->meta.annotation(stamp.version_key) != stamp.version) {
    auto claims = claims_of_pool(*services.state.snapshot(), pool->meta.name);
    MW_CO_CHECK(co_await stamp_anew(services, std::move(claims), stamp));
  }
  json::object patch{{"metadata", {{"annotations", annotations_of(stamp)}}}};
  co_return co_await patch_pool(services, pool, std::move(patch), {});
}

}  // namespace

NodePools::NodePools(Services& services)
    : services_(services),
      reconciler_(
          reconciler_context(services, "nodepool", "NodePool"),
          [this](std::string pool, base::Logger, std::stop_token) {
            return reconcile(std::move(pool));
          },
          ReconcilerOptions{.max_concurrent = 10}) {}

base::Task<base::Result<Requeue>> NodePools::reconcile(std::string name) {
  const auto snapshot = services_.state.snapshot();
  const auto found = find_pool(*snapshot, name);
  if (!found) {
    services_.registration_health.forget(name);
    usage_written_.erase(name);
    co_return Requeue{};
  }
  MW_CO_TRY(pool, co_await keep_hash(services_, found));

  auto conditions = pool->conditions;
  model::ConditionSet set(conditions, pool->meta, model::kNodePoolDependents, services_.loop.now());
  judge_validity(set, *pool);
  judge_node_class(set, services_, *snapshot, *pool);
  const auto node_class = find_node_class(*snapshot, pool->template_.node_class_ref);
  const bool class_changed =
      node_class && pool->node_class_observed_generation != node_class->meta.generation;
  services_.registration_health.judge(set, *pool, class_changed);
  json::object status;
  if (set.changed()) {
    status["conditions"] = model::encode(conditions);
  }
  if (class_changed) {
    status["nodeClassObservedGeneration"] = node_class->meta.generation;
  }
  const Usage usage = usage_of(*snapshot, name);
  const bool usage_changed = pool->nodes != usage.nodes || pool->resources != usage.resources;
  const Requeue usage_wait = usage_changed ? until_usage_is_due(name) : Requeue();
  const bool usage_due = usage_changed && !usage_wait;
  if (usage_due) {
    status["nodes"] = usage.nodes;
    status["resources"] = resources_patch(*pool, usage.resources);
  }
  if (!status.empty()) {
    json::object patch{{"status", std::move(status)}};
    MW_CO_CHECK(co_await patch_pool(services_, pool, std::move(patch), "status"));
    tell_transitions(services_, *pool, conditions);
  }
  if (usage_due) {
    usage_written_[name] = services_.loop.now();
  }
  co_return usage_wait;
}

Requeue NodePools::until_usage_is_due(const std::string& pool) const {
  const auto written = usage_written_.find(pool);
  if (written == usage_written_.end()) {
    return {};
  }
  const base::Duration left = written->second + kUsagePeriod - services_.loop.now();
  return left > base::Duration::zero() ? Requeue(left) : Requeue();
}

}  // namespace millwright::controllers
