#include "millwright/controllers/nodeclaim/garbage_collection.hpp"

#include "controllers/nodeclaim/capacity_type_labels.hpp"
#include "millwright/model/codec.hpp"

#include <algorithm>
#include <set>

namespace millwright::controllers {
namespace {

// Longer than any launch takes to be recorded.
constexpr auto kOrphanGrace = std::chrono::minutes(1);

}  // namespace

GarbageCollection::GarbageCollection(Services& services)
    : services_(
          services.logging_to(services.log.with({{"controller", "nodeclaim.garbagecollection"}}))) {
}

base::Task<void> GarbageCollection::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    const bool slept =
        co_await base::sleep(services_.loop, services_.options.garbage_collection_period, stop);
    if (!slept) {
      co_return;
    }
    co_await collect();
  }
}

base::Task<void> GarbageCollection::collect() {
  for (const auto& provider : services_.providers.all()) {
    co_await collect_from(provider.get());
  }
}

base::Task<void> GarbageCollection::collect_from(cloud::Provider* provider) {
  if (!services_.state.snapshot()->synced) {
    co_return;
  }
  auto listed = co_await provider->list();
  if (!listed) {
    services_.log.warn(
        "listing instances failed, will try again",
        {{"provider", std::string(provider->name())}, {"error", listed.error().message}});
    co_return;
  }
  co_await remove_lost_claims(provider, *listed);
  co_await remove_leaked(provider, *listed);
  co_await relabel_unreserved(services_, provider, *listed);
}

base::Task<void> GarbageCollection::remove_lost_claims(cloud::Provider* provider,
                                                       std::vector<cloud::Instance> instances) {
  std::set<std::string, std::less<>> alive;
  for (const auto& instance : instances) {
    if (!instance.terminating) {
      alive.insert(instance.provider_id);
    }
  }
  const auto snapshot = services_.state.snapshot();
  for (const auto& record : snapshot->nodes) {
    const auto& claim = record->claim;
    const bool judged = claim && !claim->meta.is_deleting() &&
                        model::is_true(claim->conditions, model::kRegistered) &&
                        services_.providers.find(claim->node_class_ref.group,
                                                 claim->node_class_ref.kind) == provider;
    const bool healthy = record->node && model::is_ready(*record->node);
    if (!judged || healthy || alive.contains(claim->provider_id)) {
      continue;
    }
    auto deleted = co_await delete_claim(services_, claim, "garbage_collected");
    if (!deleted) {
      services_.log.warn("deleting a claim without an instance failed",
                         {{"NodeClaim", claim->meta.name}, {"error", deleted.error().message}});
    }
  }
}

base::Task<bool> GarbageCollection::is_unclaimed(cloud::Instance instance) {
  if (!instance.node_claim.empty()) {
    model::ObjectKey key{.namespace_ = {}, .name = instance.node_claim};
    auto claim = co_await services_.client.get(model::kNodeClaimResource, key);
    co_return !claim && claim.error().kind == base::ErrorKind::NotFound;
  }
  // Launched for many claims at once, and not named after one yet.
  const kube::ListOptions all;
  auto claims = co_await services_.client.list(model::kNodeClaimResource, all);
  if (!claims) {
    co_return false;
  }
  co_return std::none_of(claims->items.begin(), claims->items.end(), [&](const auto& claim) {
    return model::text_at(claim, "status.providerID") == instance.provider_id;
  });
}

base::Task<void> GarbageCollection::remove_leaked(cloud::Provider* provider,
                                                  std::vector<cloud::Instance> instances) {
  // The cluster state may be behind the API server, so is_unclaimed() asks that too.
  const auto snapshot = services_.state.snapshot();
  std::map<std::string, base::TimePoint, std::less<>> still;
  for (const auto& instance : instances) {
    const bool owned =
        std::any_of(snapshot->nodes.begin(), snapshot->nodes.end(), [&](const auto& record) {
          return record->claim && (record->claim->provider_id == instance.provider_id ||
                                   record->claim->meta.name == instance.node_claim);
        });
    if (owned || instance.terminating) {
      continue;
    }
    const auto seen = orphans_.find(instance.provider_id);
    const base::TimePoint since = seen != orphans_.end() ? seen->second : services_.loop.now();
    still.emplace(instance.provider_id, since);
    if (services_.loop.now() - since < kOrphanGrace) {
      continue;
    }
    const bool lost = co_await is_unclaimed(instance);
    if (!lost) {
      continue;
    }
    services_.log.warn("ending an instance that no NodeClaim owns",
                       {{"provider-id", instance.provider_id}, {"NodeClaim", instance.node_claim}});
    auto removed = co_await provider->remove_leaked(instance.provider_id);
    if (!removed && removed.error().kind != base::ErrorKind::NotFound) {
      services_.log.warn(
          "ending a leaked instance failed, will try again",
          {{"provider-id", instance.provider_id}, {"error", removed.error().message}});
    }
  }
  orphans_.swap(still);
}

}  // namespace millwright::controllers
