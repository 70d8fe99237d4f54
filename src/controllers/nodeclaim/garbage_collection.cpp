#include "millwright/controllers/nodeclaim/garbage_collection.hpp"

#include "controllers/nodeclaim/capacity_type_labels.hpp"
#include "controllers/nodeclaim/conditions/recorded_launch.hpp"
#include "millwright/base/mutant.hpp"
#include "millwright/controllers/pools/registration_health.hpp"
#include "millwright/model/codec.hpp"

#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace millwright::controllers {
namespace {

// Node termination drains it before its instance ends.
bool is_drained_unclaimed(const scheduling::NodeRecord& record) {
  return !record.claim && record.node &&
         record.node->meta.has_finalizer(model::kTerminationFinalizer);
}

// Longer than any launch takes to be recorded.
constexpr auto kOrphanGrace = std::chrono::minutes(1);

// One answer may be stale: the look before must have missed its machine, too.
constexpr auto kMissedFor = std::chrono::minutes(1);

bool is_registered(const model::NodeClaim& claim) {
  return model::is_true(claim.conditions, model::kRegistered);
}

// Whether a list that was asked for at `asked` may tell that the claim's machine is lost.
bool may_be_judged(const model::NodeClaim& claim, base::TimePoint asked) {
  const bool judges_young = base::planted(base::Mutant::YoungMachinesJudged) ||
                            base::planted(base::Mutant::CloudListedFirst);
  if (judges_young && is_registered(claim)) {
    return true;
  }
  if (base::planted(base::Mutant::UnregisteredLossKept) && !is_registered(claim)) {
    return false;
  }
  const auto launched = recorded_launch(claim);
  return launched ? asked - *launched >= kUnseenGrace : is_registered(claim);
}

}  // namespace

base::TimePoint GarbageCollection::first_seen(const FirstSeen& known, FirstSeen& still,
                                              const std::string& what, base::TimePoint now) {
  const auto seen = known.find(what);
  return still.emplace(what, seen != known.end() ? seen->second : now).first->second;
}

GarbageCollection::GarbageCollection(Services& services)
    : services_(
          services.logging_to(services.log.with({{"controller", "nodeclaim.garbagecollection"}}))) {
}

base::Task<void> GarbageCollection::run(std::stop_token stop) {
  // Others may have led since the looks of an earlier term.
  missed_.clear();
  orphans_.clear();
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
  Look look{.before = services_.state.snapshot(), .asked = services_.loop.now()};
  auto listed = co_await provider->list();
  if (base::planted(base::Mutant::CloudListedFirst)) {
    look.before = services_.state.snapshot();
  }
  if (!listed) {
    services_.log.warn(
        "listing instances failed, will try again",
        {{"provider", std::string(provider->name())}, {"error", listed.error().message}});
    co_return;
  }
  auto missing = missing_claims(*provider, look, *listed);
  co_await remove_lost_claims(provider, std::move(missing));
  co_await remove_leaked(provider, *listed);
  co_await relabel_unreserved(services_, provider, *listed);
}

GarbageCollection::Claims GarbageCollection::missing_claims(
    const cloud::Provider& provider, const Look& look,
    const std::vector<cloud::Instance>& instances) {
  std::set<std::string_view> alive;
  for (const auto& instance : instances) {
    if (!instance.terminating) {
      alive.insert(instance.provider_id);
    }
  }
  const FirstSeen& known = missed_[&provider];
  FirstSeen still;
  Claims missing;
  for (const auto& record : look.before->nodes) {
    const auto& claim = record->claim;
    const bool is_ours = claim && services_.providers.find(claim->node_class_ref.group,
                                                           claim->node_class_ref.kind) == &provider;
    if (!is_ours || alive.contains(claim->provider_id)) {
      continue;
    }
    const base::TimePoint since = first_seen(known, still, claim->meta.uid, look.asked);
    const bool is_certain = is_registered(*claim) || look.asked - since >= kMissedFor;
    if (is_certain && may_be_judged(*claim, look.asked)) {
      missing.push_back(claim);
    }
  }
  missed_[&provider].swap(still);
  return missing;
}

base::Task<bool> GarbageCollection::has_ended(cloud::Provider* provider, std::string provider_id) {
  const auto found = co_await provider->get(std::move(provider_id));
  co_return found ? found->terminating : found.error().kind == base::ErrorKind::NotFound;
}

base::Task<void> GarbageCollection::remove_lost_claims(cloud::Provider* provider, Claims missing) {
  for (const auto& claim : missing) {
    const bool registered = is_registered(*claim);
    if (!registered) {
      const bool ended = co_await has_ended(provider, claim->provider_id);
      if (!ended) {
        continue;
      }
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
      continue;
    }
    tell_lost(*claim);
  }
}

void GarbageCollection::tell_lost(const model::NodeClaim& claim) {
  services_.events.record({.object = kube::reference_to(model::kNodeClaimResource, claim.meta),
                           .warning = true,
                           .reason = "InstanceLost",
                           .message = "The cloud no longer has the instance " + claim.provider_id +
                                      "; the NodeClaim is deleted",
                           .dedupe_values = {}});
  const bool registered_once = is_registered(claim) || !claim.node_name.empty();
  if (registered_once) {
    return;
  }
  const auto pool = find_pool(*services_.state.snapshot(), claim.meta.label(model::kNodePoolLabel));
  if (pool) {
    services_.registration_health.failed(*pool, claim);
  }
}

std::vector<GarbageCollection::Orphan> GarbageCollection::overdue_orphans(
    const cloud::Provider& provider, const std::vector<cloud::Instance>& instances) {
  std::unordered_set<std::string_view> provider_ids;
  std::unordered_set<std::string_view> launching;  // claims
  std::unordered_map<std::string_view, NodePtr> drained;
  const auto snapshot = services_.state.snapshot();
  for (const auto& record : snapshot->nodes) {
    if (record->claim) {
      provider_ids.insert(record->claim->provider_id);
      if (record->claim->provider_id.empty()) {
        launching.insert(record->claim->meta.name);
      }
    } else if (is_drained_unclaimed(*record)) {
      drained.emplace(record->node->provider_id, record->node);
    }
  }
  const base::TimePoint now = services_.loop.now();
  FirstSeen& known = orphans_[&provider];
  FirstSeen still;
  std::vector<Orphan> overdue;
  if (base::planted(base::Mutant::OrphansKept)) {
    return overdue;
  }
  for (const auto& instance : instances) {
    if (instance.terminating || provider_ids.contains(instance.provider_id) ||
        launching.contains(instance.node_claim)) {
      continue;
    }
    const base::TimePoint since = first_seen(known, still, instance.provider_id, now);
    const auto found = drained.find(instance.provider_id);
    const NodePtr node = found == drained.end() ? nullptr : found->second;
    const bool is_draining = node && node->meta.is_deleting();
    if (now - since >= kOrphanGrace && !is_draining) {
      overdue.push_back({instance, node});
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

base::Task<bool> GarbageCollection::has_name_by_now(cloud::Provider* provider,
                                                    std::string provider_id) {
  const auto found = co_await provider->get(std::move(provider_id));
  co_return found ? !found->node_claim.empty() : found.error().kind != base::ErrorKind::NotFound;
}

base::Task<void> GarbageCollection::delete_to_drain(NodePtr node) {
  services_.log.warn("deleting a Node that no NodeClaim owns, so that its pods leave in good order",
                     {{"Node", node->meta.name}, {"provider-id", node->provider_id}});
  const auto deleted = co_await delete_node(services_, node);
  if (!deleted) {
    services_.log.warn("deleting a Node that no NodeClaim owns failed, will try again",
                       {{"Node", node->meta.name}, {"error", deleted.error().message}});
  }
}

base::Task<void> GarbageCollection::end_leaked(cloud::Provider* provider,
                                               cloud::Instance instance) {
  services_.log.warn("ending an instance that no NodeClaim owns",
                     {{"provider-id", instance.provider_id}, {"NodeClaim", instance.node_claim}});
  const auto removed = co_await provider->remove_leaked(instance.provider_id);
  if (!removed && removed.error().kind != base::ErrorKind::NotFound) {
    services_.log.warn("ending a leaked instance failed, will try again",
                       {{"provider-id", instance.provider_id}, {"error", removed.error().message}});
  }
}

base::Task<void> GarbageCollection::remove_leaked(cloud::Provider* provider,
                                                  std::vector<cloud::Instance> instances) {
  // The cluster state may be behind the API server, so that is asked, too.
  std::optional<base::Result<ProviderIds>> claimed;
  const auto orphans = overdue_orphans(*provider, instances);
  for (const auto& orphan : orphans) {
    const cloud::Instance& instance = orphan.instance;
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
      if (!owned) {
        // It takes minutes to end many, and a claim in doubt may have taken this one meanwhile.
        owned = co_await has_name_by_now(provider, instance.provider_id);
      }
    }
    if (owned) {
      continue;
    }
    if (orphan.node) {
      co_await delete_to_drain(orphan.node);
    } else {
      co_await end_leaked(provider, instance);
    }
  }
}

}  // namespace millwright::controllers
