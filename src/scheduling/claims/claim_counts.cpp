#include "scheduling/claims/claim_counts.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

namespace millwright::scheduling {

void ClaimCounts::count(ClaimId index, const Constraint& constraint) {
  land_floating(index);
  const auto& groups = counts_.topology().groups();
  for (const TopologyGroupId id : constraint.counted) {
    ClaimDraft& claim = claims_[index];
    if (groups[id].by_host) {
      counts_.add_on_host(id, index, claim.tally.selected(id) == 1);
    } else if (const Counting how = domains_.counting(claim, id); how != Counting::No) {
      const std::int32_t domain = domains_.of(claim.shape, groups[id].key_id);
      if (domain >= 0) {
        counts_.add_selected(id, domain, how == Counting::Surely);
      } else if (domain == kUnknownDomain) {
        claim.floating.push_back(id);
        counts_.add_floating(id, index);
      }
    }
  }
  for (const TopologyGroupId id : constraint.carried) {
    if (!groups[id].by_host) {
      if (const auto domain = domains_.of(claims_[index].shape, groups[id].key_id); domain >= 0) {
        counts_.add_owner(id, domain);
      }
    }
  }
}

void ClaimCounts::land_floating(ClaimId index) {
  ClaimDraft& claim = claims_[index];
  std::erase_if(claim.floating, [&](TopologyGroupId id) {
    const std::int32_t domain = domains_.of(claim.shape, counts_.topology().groups()[id].key_id);
    if (domain >= 0) {
      counts_.add_selected(id, domain, domains_.counting(claim, id) == Counting::Surely);
    }
    return domain != kUnknownDomain;
  });
}

void ClaimCounts::choose_domains(TopologyGroupId group, const Requirements& wanted) {
  std::vector<ClaimId> claims = counts_.take_floating(group);
  std::sort(claims.begin(), claims.end());
  claims.erase(std::unique(claims.begin(), claims.end()), claims.end());
  for (const ClaimId claim : claims) {
    const auto& floating = claims_[claim].floating;
    if (std::find(floating.begin(), floating.end(), group) == floating.end()) {
      continue;  // landed since
    }
    if (choose_domain(claim, group, wanted)) {
      land_floating(claim);
    } else {
      land_everywhere(claim, group);
    }
  }
}

// The claim cannot be tied to one domain (minValues want several types), so its pods are taken to
// be in any that it may turn out to be in. Where it has no such label, they are in none.
void ClaimCounts::land_everywhere(ClaimId index, TopologyGroupId group) {
  const TopologyGroup& counted = counts_.topology().groups()[group];
  ClaimDraft& claim = claims_[index];
  const Requirement* values = builder_.shapes()[claim.shape].requirements.find(counted.key);
  if (values == nullptr && !model::is_well_known_label(counted.key)) {
    counts_.put_back_floating(group, index);
    return;
  }
  const TopologyKey& key = counts_.topology().keys()[counted.key_id];
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
bool ClaimCounts::choose_domain(ClaimId index, TopologyGroupId group, const Requirements& wanted) {
  const KeyId key = counts_.topology().groups()[group].key_id;
  const TopologyKey& domains = counts_.topology().keys()[key];
  const Requirement admitted = wanted.get(domains.name());
  using Rank = std::tuple<bool, double, std::int32_t, std::int32_t>;
  std::optional<std::pair<Rank, ClaimBuilder::Narrower>> best;
  ClaimDraft& claim = claims_[index];
  for (std::size_t i = 0; i < domains.size(); ++i) {
    const auto domain = static_cast<std::int32_t>(i);
    auto tied = builder_.narrower(claim, domains_.narrowing(key, domain));
    if (!tied) {
      continue;
    }
    const ClaimDraft after{.pool = claim.pool, .rows = tied->rows, .reserved = claim.reserved};
    const auto cheapest =
        cheapest_row(builder_.pools()[claim.pool], builder_.shapes()[tied->shape], after);
    const Rank rank{!admitted.has(domains.domains()[i]),
                    cheapest ? cheapest->price : std::numeric_limits<double>::infinity(),
                    counts_.selected(group, domain), domain};
    if (!best || rank < best->first) {
      best.emplace(rank, *std::move(tied));
    }
  }
  if (best) {
    claim.shape = best->second.shape;
    claim.rows = std::move(best->second.rows);
  }
  return best.has_value();
}

void ClaimCounts::recount() {
  for (ClaimId index; index < claims_.end_id(); ++index) {
    ClaimDraft& claim = claims_[index];
    claim.floating.clear();
    claim.tally = HostTally();
    const ClaimDraft copy = claim;
    claim.narrowings.clear();
    for (std::size_t i = 0; i < copy.pods.size(); ++i) {
      const Applicant member = member_of(copy, i, builder_.pods());
      claims_[index].narrowings.push_back(member.narrowed);
      add_to_tally(claims_[index], member, counts_.topology().groups());
      count(index, member.constraint);
    }
  }
}

}  // namespace millwright::scheduling
