#include "millwright/controllers/provisioning/overlays.hpp"

#include "millwright/model/codec.hpp"
#include "millwright/model/conditions.hpp"
#include "millwright/schema/schema.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace millwright::controllers {
namespace {

namespace json = boost::json;

constexpr auto kOverlayResync = std::chrono::hours(6);
constexpr std::string_view kDependents[] = {model::kValidationSucceeded};

std::string invalidity(const model::NodeOverlay& overlay) {
  const auto* kind = schema::find_kind(model::kNodeOverlayResource.api_version(), "NodeOverlay");
  std::string message;
  for (const auto& problem : schema::validate(*kind, model::encode(overlay))) {
    message += (message.empty() ? "" : "; ") + problem.to_string();
  }
  return message;
}

std::map<std::string, model::StringMap, std::less<>> labels_by_pool(
    const scheduling::Snapshot& snapshot) {
  std::map<std::string, model::StringMap, std::less<>> labels;
  for (const auto& pool : snapshot.node_pools) {
    labels.emplace(pool->meta.name, pool->template_.labels.value_or(model::StringMap{}));
  }
  return labels;
}

}  // namespace

bool OverlayCache::is_current(const scheduling::Snapshot& snapshot,
                              const scheduling::Catalog& base) const {
  return applied_ && overlays_ == snapshot.node_overlays && base_ == base &&
         pool_labels_ == labels_by_pool(snapshot);
}

const scheduling::OverlaidCatalog& OverlayCache::apply(const scheduling::Snapshot& snapshot,
                                                       const scheduling::Catalog& base) {
  if (is_current(snapshot, base)) {
    return result_;
  }
  applied_ = true;
  overlays_ = snapshot.node_overlays;
  pool_labels_ = labels_by_pool(snapshot);
  base_ = base;
  problems_.clear();
  std::vector<std::shared_ptr<const model::NodeOverlay>> valid;
  for (const auto& overlay : overlays_) {
    if (auto problem = invalidity(*overlay); !problem.empty()) {
      problems_.emplace(overlay->meta.name, Problem{"RuntimeValidation", std::move(problem)});
    } else {
      valid.push_back(overlay);
    }
  }
  result_ = scheduling::apply_overlays(base, snapshot.node_pools, valid);
  for (const auto& conflict : result_.conflicts) {
    problems_.emplace(conflict.overlay, Problem{"Conflict", conflict.message});
  }
  return result_;
}

const scheduling::OverlayChange* OverlayCache::change(std::string_view pool,
                                                      std::string_view type) const {
  const auto of_pool = result_.changes.find(pool);
  if (of_pool == result_.changes.end()) {
    return nullptr;
  }
  const auto found = of_pool->second.find(type);
  return found == of_pool->second.end() ? nullptr : &found->second;
}

bool OverlayCache::provides(std::string_view pool, std::string_view resource) const {
  const auto of_pool = result_.changes.find(pool);
  return of_pool != result_.changes.end() &&
         std::any_of(of_pool->second.begin(), of_pool->second.end(),
                     [&](const auto& item) { return item.second.capacity.contains(resource); });
}

NodeOverlays::NodeOverlays(Services& services)
    : services_(services),
      reconciler_(
          reconciler_context(services, "nodeoverlay.controller", ""),
          [this](std::string, base::Logger, std::stop_token) { return reconcile(); },
          ReconcilerOptions{.max_concurrent = 1}) {}

base::Task<base::Result<Requeue>> NodeOverlays::reconcile() {
  const auto snapshot = services_.state.snapshot();
  catalog_of(services_, *snapshot);
  for (const auto& overlay : snapshot->node_overlays) {
    if (overlay->meta.is_deleting()) {
      continue;
    }
    MW_CO_CHECK(ignore_not_found(co_await write_conditions(overlay)));
  }
  co_return Requeue{kOverlayResync};
}

base::Task<base::Result<>> NodeOverlays::write_conditions(
    std::shared_ptr<const model::NodeOverlay> overlay) {
  auto conditions = overlay->conditions;
  model::ConditionSet set(conditions, overlay->meta, kDependents, services_.loop.now());
  const auto& problems = services_.overlays->problems();
  const auto problem = problems.find(overlay->meta.name);
  if (problem == problems.end()) {
    set.set_true(model::kValidationSucceeded);
  } else {
    set.set_false(model::kValidationSucceeded, problem->second.reason, problem->second.message);
  }
  if (!set.changed()) {
    co_return base::Result<>{};
  }
  json::object patch{{"status", {{"conditions", model::encode(conditions)}}}};
  MW_CO_TRY(object, co_await services_.client.patch(
                        model::kNodeOverlayResource, model::key_of(overlay->meta),
                        kube::PatchType::Merge, std::move(patch), "status"));
  MW_CO_TRY(updated, model::decode<model::NodeOverlay>(object));
  services_.state.answered(std::make_shared<const model::NodeOverlay>(std::move(updated)));
  co_return base::Result<>{};
}

}  // namespace millwright::controllers
