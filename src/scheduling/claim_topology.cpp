// The part of ClaimDrafts that deals with topology: in which domain a claim will be, and whose
// counts its pods raise.
#include "scheduling/claim_drafts.hpp"
#include "scheduling/launch_options.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace millwright::scheduling {
namespace {

constexpr std::int32_t kNotLookedUp = -3;

}  // namespace

bool ClaimDrafts::admits_host(const ClaimDraft& claim, const Candidate& candidate) const {
  return scheduling::admits_host(claim.tally, candidate.constraint, candidate.rung, counts_);
}

std::int32_t ClaimDrafts::domain_of(std::uint32_t shape, std::uint32_t key) {
  const TopologyKey& domains = counts_.topology().keys()[key];
  if (domains_.size() <= shape) {
    domains_.resize(shape + 1);
  }
  auto& by_key = domains_[shape];
  by_key.resize(counts_.topology().keys().size(), kNotLookedUp);
  if (by_key[key] == kNotLookedUp) {
    const Requirement* values = shapes_[shape].requirements.find(domains.name());
    const bool one =
        values != nullptr && values->op() == model::Operator::In && values->values().size() == 1;
    const std::int32_t found = one ? domains.find(values->values().front()) : kUnknownDomain;
    by_key[key] = one && found < 0 ? kUnknownDomain : found;
    if (values != nullptr && values->op() == model::Operator::DoesNotExist) {
      by_key[key] = kNoDomain;
    }
  }
  return by_key[key];
}

ClaimDrafts::Counting ClaimDrafts::counting(const ClaimDraft& claim, std::uint32_t group) {
  const NodeFilter& filter = counts_.topology().groups()[group].filter;
  if (filter.everything()) {
    return Counting::Surely;
  }
  const auto [known, added] =
      counting_.try_emplace((std::uint64_t{claim.shape} << 32) | group, Counting::No);
  if (!added || !filter.tolerates(pools_[claim.pool].taints)) {
    return known->second;
  }
  const Requirements& requirements = shapes_[claim.shape].requirements;
  const auto any = [&](auto meets) {
    return filter.alternatives.empty() ||
           std::any_of(filter.alternatives.begin(), filter.alternatives.end(), meets);
  };
  // A well-known key that the claim leaves open will have some value.
  const auto decided = [&](const Requirement& want) {
    return requirements.find(want.key()) != nullptr || !model::is_well_known_label(want.key());
  };
  if (any([&](const auto& wanted) {
        return std::all_of(wanted.begin(), wanted.end(), decided) &&
               always_satisfies(requirements, wanted);
      })) {
    known->second = Counting::Surely;
  } else if (any([&](const auto& wanted) {
               return requirements.compatible(wanted, AllowUndefined::WellKnown);
             })) {
    known->second = Counting::Perhaps;
  }
  return known->second;
}

void ClaimDrafts::note_topology(ClaimDraft& claim, const Candidate& candidate) const {
  const auto& groups = counts_.topology().groups();
  claim.narrowings.push_back(candidate.narrowed);
  for (const std::uint32_t id : candidate.constraint.counted) {
    if (groups[id].by_host) {
      claim.tally.add_selected(id);
    }
  }
  for (const std::uint32_t id : candidate.constraint.carried) {
    if (groups[id].by_host) {
      claim.tally.add_owner(id);
    }
  }
  for (const std::uint32_t id : candidate.rung.on_host) {
    claim.keeps_together = claim.keeps_together || groups[id].kind == TopologyKind::Affinity;
  }
}

void ClaimDrafts::count(std::uint32_t index, const Constraint& constraint) {
  land_floating(index);
  const auto& groups = counts_.topology().groups();
  for (const std::uint32_t id : constraint.counted) {
    ClaimDraft& claim = claims_[index];
    if (groups[id].by_host) {
      counts_.add_on_host(id, {true, index}, claim.tally.selected(id) == 1);
    } else if (const Counting how = counting(claim, id); how != Counting::No) {
      const std::int32_t domain = domain_of(claim.shape, groups[id].key_index);
      if (domain >= 0) {
        counts_.add_selected(id, domain, how == Counting::Surely);
      } else if (domain == kUnknownDomain) {
        claim.floating.push_back(id);
        counts_.add_floating(id, index);
      }
    }
  }
  for (const std::uint32_t id : constraint.carried) {
    if (!groups[id].by_host) {
      if (const auto domain = domain_of(claims_[index].shape, groups[id].key_index); domain >= 0) {
        counts_.add_owner(id, domain);
      }
    }
  }
}

void ClaimDrafts::land_floating(std::uint32_t index) {
  ClaimDraft& claim = claims_[index];
  std::erase_if(claim.floating, [&](std::uint32_t id) {
    const std::int32_t domain = domain_of(claim.shape, counts_.topology().groups()[id].key_index);
    if (domain >= 0) {
      counts_.add_selected(id, domain, counting(claim, id) == Counting::Surely);
    }
    return domain != kUnknownDomain;
  });
}

std::optional<ClaimDrafts::Settled> ClaimDrafts::settled_on(const ClaimDraft& claim,
                                                            const Narrowing& narrowing) {
  const std::uint32_t shape = shapes_.joined(claim.shape, narrowing.id, narrowing.requirements);
  if (shape == ClaimShapes::kNone) {
    return std::nullopt;
  }
  const ClaimShape& next = shapes_[shape];
  Settled result{shape, claim.rows};
  if (!narrow_rows(claim, next, result.rows) ||
      !pools_[claim.pool].room.keep_fitting(result.rows, claim.requests) ||
      !has_choice(claim, next, result.rows, claim.requests)) {
    return std::nullopt;
  }
  return result;
}

bool ClaimDrafts::settle_on(ClaimDraft& claim, const Narrowing& narrowing) {
  auto settled = settled_on(claim, narrowing);
  if (settled) {
    claim.shape = settled->shape;
    claim.rows = std::move(settled->rows);
  }
  return settled.has_value();
}

bool ClaimDrafts::keep_domains(const ClaimDraft& whole, ClaimDraft& part) {
  for (const std::uint32_t pod : part.pods) {
    const PodClass& pod_class = pods_.classes[pods_.pods[pod].pod_class];
    for (const std::uint32_t key : pods_.constraints[pod_class.constraint].keys) {
      const std::int32_t domain = domain_of(whole.shape, key);
      if (domain >= 0 && domain_of(part.shape, key) != domain &&
          !settle_on(part, narrowings_.one(key, domain))) {
        return false;
      }
    }
  }
  // They also go on counting where they did, or not, as far as that was known.
  return std::all_of(part.pods.begin(), part.pods.end(), [&](std::uint32_t pod) {
    const PodClass& pod_class = pods_.classes[pods_.pods[pod].pod_class];
    return counts_alike(whole, part, pods_.constraints[pod_class.constraint]);
  });
}

bool ClaimDrafts::freeze_domains(const ClaimDraft& claim, Candidate& candidate) {
  const auto& keys = candidate.constraint.keys;
  const auto open = [&](std::uint32_t key) { return domain_of(claim.shape, key) < 0; };
  if (std::any_of(keys.begin(), keys.end(), open)) {
    return false;
  }
  candidate.narrowed = {};
  if (keys.size() == 1) {
    candidate.narrowed.chosen = &narrowings_.one(keys[0], domain_of(claim.shape, keys[0]));
    return true;
  }
  std::vector<Narrowing::Part> parts;
  for (const std::uint32_t key : keys) {
    parts.push_back({key, DomainSet(counts_.topology().keys()[key].size()), false});
    parts.back().domains.insert(static_cast<std::size_t>(domain_of(claim.shape, key)));
  }
  if (!parts.empty()) {
    candidate.narrowed.chosen = &narrowings_.of(parts);
  }
  return true;
}

bool ClaimDrafts::counts_alike(const ClaimDraft& before, const ClaimDraft& after,
                               const Constraint& constraint) {
  return std::all_of(constraint.counted.begin(), constraint.counted.end(), [&](std::uint32_t id) {
    const Counting how = counting(before, id);
    return how == Counting::Perhaps || how == counting(after, id);
  });
}

void ClaimDrafts::settle_floating(std::uint32_t group, const Requirements& wanted) {
  const std::uint32_t key = counts_.topology().groups()[group].key_index;
  std::vector<std::uint32_t> claims = counts_.take_floating(group);
  std::sort(claims.begin(), claims.end());
  claims.erase(std::unique(claims.begin(), claims.end()), claims.end());
  for (const std::uint32_t claim : claims) {
    const auto& floating = claims_[claim].floating;
    if (std::find(floating.begin(), floating.end(), group) == floating.end()) {
      continue;  // landed since
    }
    if (settle_claim(claim, key, group, wanted)) {
      land_floating(claim);
    } else {
      land_everywhere(claim, group);
    }
  }
}

// The claim cannot be tied to one domain (minValues want several types), so its pods are taken to
// be in any that it may turn out to be in. Where it has no such label, they are in none.
void ClaimDrafts::land_everywhere(std::uint32_t index, std::uint32_t group) {
  const TopologyGroup& counted = counts_.topology().groups()[group];
  ClaimDraft& claim = claims_[index];
  const Requirement* values = shapes_[claim.shape].requirements.find(counted.key);
  if (values == nullptr && !model::is_well_known_label(counted.key)) {
    counts_.put_back_floating(group, index);
    return;
  }
  const TopologyKey& key = counts_.topology().keys()[counted.key_index];
  const auto pods = std::count(claim.floating.begin(), claim.floating.end(), group);
  std::erase(claim.floating, group);
  if (counted.kind == TopologyKind::Affinity) {
    counts_.add_somewhere(group, pods);  // nobody can rely on finding them
    return;
  }
  for (std::size_t i = 0; i < key.size(); ++i) {
    for (std::ptrdiff_t n = 0; n < pods && (values == nullptr || values->has(key.domains()[i]));
         ++n) {
      counts_.add_selected(group, static_cast<std::int32_t>(i), false);
    }
  }
}

// Cheapest first, then where the fewest of the group's pods are; domains that the pod about to be
// placed could use come before others.
bool ClaimDrafts::settle_claim(std::uint32_t index, std::uint32_t key, std::uint32_t group,
                               const Requirements& wanted) {
  const TopologyKey& domains = counts_.topology().keys()[key];
  const Requirement admitted = wanted.get(domains.name());
  using Rank = std::tuple<bool, double, std::int32_t, std::int32_t>;
  std::optional<std::pair<Rank, Settled>> best;
  ClaimDraft& claim = claims_[index];
  for (std::size_t i = 0; i < domains.size(); ++i) {
    const auto domain = static_cast<std::int32_t>(i);
    auto settled = settled_on(claim, narrowings_.one(key, domain));
    if (!settled) {
      continue;
    }
    const ClaimDraft after{.pool = claim.pool, .rows = settled->rows, .reserved = claim.reserved};
    const auto cheapest = cheapest_row(pools_[claim.pool], shapes_[settled->shape], after);
    const Rank rank{!admitted.has(domains.domains()[i]),
                    cheapest ? cheapest->price : std::numeric_limits<double>::infinity(),
                    counts_.selected(group, domain), domain};
    if (!best || rank < best->first) {
      best.emplace(rank, *std::move(settled));
    }
  }
  if (best) {
    claim.shape = best->second.shape;
    claim.rows = std::move(best->second.rows);
  }
  return best.has_value();
}

void ClaimDrafts::recount() {
  for (std::uint32_t index = 0; index < claims_.size(); ++index) {
    ClaimDraft& claim = claims_[index];
    claim.floating.clear();
    claim.tally = HostTally();
    const ClaimDraft copy = claim;
    claim.narrowings.clear();
    for (std::size_t i = 0; i < copy.pods.size(); ++i) {
      const Candidate member = candidate(copy, i);
      note_topology(claims_[index], member);
      count(index, member.constraint);
    }
  }
}

double ClaimDrafts::price_of_new(const Candidate& candidate) {
  for (std::uint32_t pool = 0; pool < pools_.size(); ++pool) {
    if (const auto claim = draft(pool, candidate, true)) {
      const auto cheapest = cheapest_row(pools_[pool], shapes_[claim->shape], *claim);
      return cheapest ? cheapest->price : std::numeric_limits<double>::infinity();
    }
  }
  return std::numeric_limits<double>::infinity();
}

bool ClaimDrafts::may_move(const ClaimDraft& from, const ClaimDraft& to,
                           const Constraint& constraint) {
  const auto& groups = counts_.topology().groups();
  return counts_alike(from, to, constraint) &&
         std::all_of(constraint.keys.begin(), constraint.keys.end(),
                     [&](std::uint32_t key) {
                       const std::int32_t domain = domain_of(from.shape, key);
                       return domain >= 0 && domain == domain_of(to.shape, key);
                     }) &&
         // Those already there may have been placed by how few there were.
         std::all_of(constraint.counted.begin(), constraint.counted.end(), [&](std::uint32_t id) {
           return !groups[id].by_host || groups[id].kind != TopologyKind::Spread ||
                  to.tally.selected(id) < groups[id].max_skew;
         });
}

}  // namespace millwright::scheduling
