#include "millwright/controllers/nodeclaim/garbage_collection.hpp"

#include "controllers/nodeclaim/capacity_type_labels.hpp"
#include "millwright/base/mutant.hpp"
#include "millwright/model/codec.hpp"

#include <optional>
#include <string_view>
#include <unordered_set>

namespace millwright::controllers {
namespace {

// Node termination drains it first.
bool is_terminating_unclaimed(const scheduling::NodeRecord& record) {
  return !record.claim && record.node && record.node->meta.is_deleting() &&
         record.node->meta.has_finalizer(model::kTerminationFinalizer);
}

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
  // Before the cloud is asked: the instance of a claim that registers meanwhile is not in its
  // answer.
  auto before = services_.state.snapshot();
  auto listed = co_await provider->list();
  if (base::planted(base::Mutant::CloudListedFirst)) {
    before = services_.state.snapshot();
  }
  if (!listed) {
    services_.log.warn(
        "listing instances failed, will try again",
        {{"provider", std::string(provider->name())}, {"error", listed.error().message}});
    co_return;
  }
  co_await remove_lost_claims(provider, before, *listed);
  co_await remove_leaked(provider, *listed);
  co_await relabel_unreserved(services_, provider, *listed);
}

base::Task<void> GarbageCollection::remove_lost_claims(cloud::Provider* provider,
                                                       scheduling::SnapshotPtr before,
                                                       std::vector<cloud::Instance> instances) {
  std::set<std::string, std::less<>> alive;
  for (const auto& instance : instances) {
    if (!instance.terminating) {
      alive.insert(instance.provider_id);
    }
  }
  for (const auto& record : before->nodes) {
    const auto& claim = record->claim;
    const bool judged = claim && model::is_true(claim->conditions, model::kRegistered) &&
                        services_.providers.find(claim->node_class_ref.group,
                                                 claim->node_class_ref.kind) == provider;
    if (!judged || alive.contains(claim->provider_id)) {
      continue;
    }
    const auto now = services_.state.find_claim(claim->meta.name);
    const bool is_there = now && now->claim && now->claim->meta.uid == claim->meta.uid &&
                          !now->claim->meta.is_deleting();
    if (!is_there || (now->node && model::is_ready(*now->node))) {
      continue;
    }
    auto deleted = co_await delete_claim(services_, now->claim, "garbage_collected");
    if (!deleted) {
      services_.log.warn("deleting a claim without an instance failed",
                         {{"NodeClaim", claim->meta.name}, {"error", deleted.error().message}});
    }
  }
}

std::vector<cloud::Instance> GarbageCollection::overdue_orphans(
    const cloud::Provider& provider, const std::vector<cloud::Instance>& instances) {
  std::unordered_set<std::string_view> provider_ids;
  std::unordered_set<std::string_view> launching;  // claims
  std::unordered_set<std::string_view> draining;
  const auto snapshot = services_.state.snapshot();
  for (const auto& record : snapshot->nodes) {
    if (record->claim) {
      provider_ids.insert(record->claim->provider_id);
      if (record->claim->provider_id.empty()) {
        launching.insert(record->claim->meta.name);
      }
    } else if (is_terminating_unclaimed(*record)) {
      draining.insert(record->node->provider_id);
    }
  }
  const base::TimePoint now = services_.loop.now();
  Orphans& known = orphans_[&provider];
  Orphans still;
  std::vector<cloud::Instance> overdue;
  if (base::planted(base::Mutant::OrphansKept)) {
    return overdue;
  }
  for (const auto& instance : instances) {
    if (instance.terminating || provider_ids.contains(instance.provider_id) ||
        launching.contains(instance.node_claim)) {
      continue;
    }
    const auto seen = known.find(instance.provider_id);
    const base::TimePoint since = seen != known.end() ? seen->second : now;
    still.emplace(instance.provider_id, since);
    if (now - since >= kOrphanGrace && !draining.contains(instance.provider_id)) {
      overdue.push_back(instance);
    }
  }
  known.swap(still);
  return overdue;
}

base::Task<bool> GarbageCollection::may_own(std::string claim_name, std::string provider_id) {
  model::ObjectKey key{.namespace_ = {}, .name = std::move(claim_name)};
  auto claim = co_await services_.client.get(model::kNodeClaimResource, key);
  if (!claim) {
    co_return claim.error().kind != base::ErrorKind::NotFound;
  }
  const auto recorded = model::text_at(*claim, "status.providerID");
  co_return recorded.empty() || recorded == provider_id;
}

base::Task<base::Result<GarbageCollection::ProviderIds>> GarbageCollection::claimed_ids() {
  const kube::ListOptions all;
  MW_CO_TRY(claims, co_await services_.client.list(model::kNodeClaimResource, all));
  ProviderIds ids;
  for (const auto& claim : claims.items) {
    ids.emplace(model::text_at(claim, "status.providerID"));
  }
  co_return ids;
}

base::Task<void> GarbageCollection::remove_leaked(cloud::Provider* provider,
                                                  std::vector<cloud::Instance> instances) {
  // The cluster state may be behind the API server, so that is asked, too.
  std::optional<base::Result<ProviderIds>> claimed;
  const auto orphans = overdue_orphans(*provider, instances);
  for (const auto& instance : orphans) {
    bool owned = false;
    if (!instance.node_claim.empty()) {
      // A claim has one instance. Another with its name was launched twice.
      owned = co_await may_own(instance.node_claim, instance.provider_id);
    } else {
      // Launched for many claims at once, and not named after one yet.
      if (!claimed) {
        claimed = co_await claimed_ids();
      }
      owned = !*claimed || (*claimed)->contains(instance.provider_id);
    }
    if (owned) {
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
}

}  // namespace millwright::controllers
