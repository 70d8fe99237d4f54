#include "scheduling/claims/claim_domains.hpp"

#include <algorithm>

namespace millwright::scheduling {
namespace {

constexpr std::int32_t kNotLookedUp = -3;

}  // namespace

std::int32_t ClaimDomains::of(ShapeId shape, KeyId key) {
  if (domains_.end_id() <= shape) {
    domains_.resize(shape.index() + 1);
  }
  auto& by_key = domains_[shape];
  by_key.resize(topology_.keys().size(), kNotLookedUp);
  if (by_key[key] == kNotLookedUp) {
    by_key[key] = look_up(shape, topology_.keys()[key]);
  }
  return by_key[key];
}

std::int32_t ClaimDomains::look_up(ShapeId shape, const TopologyKey& key) const {
  const Requirement* values = builder_.shapes()[shape].requirements.find(key.name());
  if (values == nullptr) {
    return kUnknownDomain;
  }
  if (values->op() == model::Operator::DoesNotExist) {
    return kNoDomain;
  }
  if (values->op() != model::Operator::In || values->values().size() != 1) {
    return kUnknownDomain;
  }
  const std::int32_t found = key.find(values->values().front());
  return found < 0 ? kUnknownDomain : found;
}

Counting ClaimDomains::counting(const ClaimDraft& claim, TopologyGroupId group) {
  const NodeFilter& filter = topology_.groups()[group].filter;
  if (filter.everything()) {
    return Counting::Surely;
  }
  const auto [known, added] = counting_.try_emplace(
      (std::uint64_t{claim.shape.index()} << 32) | group.index(), Counting::No);
  if (added) {
    known->second = work_out(claim, filter);
  }
  return known->second;
}

Counting ClaimDomains::work_out(const ClaimDraft& claim, const NodeFilter& filter) const {
  if (!filter.tolerates(builder_.pools()[claim.pool].taints)) {
    return Counting::No;
  }
  const ClaimShape& shape = builder_.shapes()[claim.shape];
  const Requirements& requirements = shape.requirements;
  const TypeTable& table = *builder_.pools()[claim.pool].table;
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
    return Counting::Surely;
  }
  // What the claim does not say, its instance types may: the architecture, for example.
  return any([&](const auto& wanted) {
    return requirements.compatible(wanted, AllowUndefined::WellKnown) &&
           !(shape.admitted & table.admitted(wanted)).empty();
  })
             ? Counting::Perhaps
             : Counting::No;
}

bool ClaimDomains::counts_alike(const ClaimDraft& before, const ClaimDraft& after,
                                const Constraint& constraint) {
  return std::all_of(constraint.counted.begin(), constraint.counted.end(), [&](TopologyGroupId id) {
    const Counting how = counting(before, id);
    return how == Counting::Perhaps || how == counting(after, id);
  });
}

bool ClaimDomains::freeze(const ClaimDraft& claim, Applicant& applicant) {
  const auto& keys = applicant.constraint.keys;
  const auto open = [&](KeyId key) { return of(claim.shape, key) < 0; };
  if (std::any_of(keys.begin(), keys.end(), open)) {
    return false;
  }
  applicant.narrowed = {};
  if (keys.size() == 1) {
    applicant.narrowed.chosen = &narrowings_.one(keys[0], of(claim.shape, keys[0]));
    return true;
  }
  std::vector<Narrowing::Part> parts;
  for (const KeyId key : keys) {
    parts.push_back({key, DomainSet(topology_.keys()[key].size()), false});
    parts.back().domains.insert(static_cast<std::size_t>(of(claim.shape, key)));
  }
  if (!parts.empty()) {
    applicant.narrowed.chosen = &narrowings_.of(parts);
  }
  return true;
}

bool ClaimDomains::may_move(const ClaimDraft& from, const ClaimDraft& to,
                            const Constraint& constraint) {
  const auto& groups = topology_.groups();
  return counts_alike(from, to, constraint) &&
         std::all_of(constraint.keys.begin(), constraint.keys.end(),
                     [&](KeyId key) {
                       const std::int32_t domain = of(from.shape, key);
                       return domain >= 0 && domain == of(to.shape, key);
                     }) &&
         // Those already there may have been placed by how few there were.
         std::all_of(constraint.counted.begin(), constraint.counted.end(), [&](TopologyGroupId id) {
           return !groups[id].by_host || groups[id].kind != TopologyKind::Spread ||
                  to.tally.selected(id) < groups[id].max_skew;
         });
}

bool ClaimDomains::keep(const ClaimDraft& whole, ClaimDraft& part) {
  const PodClasses& pods = builder_.pods();
  for (const PodId pod : part.pods) {
    for (const KeyId key : pods.constraint_of(pod).keys) {
      const std::int32_t domain = of(whole.shape, key);
      if (domain < 0 || of(part.shape, key) == domain) {
        continue;
      }
      auto tied = builder_.narrower(part, narrowings_.one(key, domain));
      if (!tied) {
        return false;
      }
      part.shape = tied->shape;
      part.rows = std::move(tied->rows);
    }
  }
  // They also go on counting where they did, or not, as far as that was known.
  return std::all_of(part.pods.begin(), part.pods.end(),
                     [&](PodId pod) { return counts_alike(whole, part, pods.constraint_of(pod)); });
}

}  // namespace millwright::scheduling
