#include "scheduling/topology/topology_choices.hpp"

#include <algorithm>
#include <utility>

namespace millwright::scheduling {
namespace {

// Combinations of domains of several keys; more are not looked at.
constexpr std::size_t kMaxChoices = 4096;

}  // namespace

const Narrowing* TopologyChoices::closed(const Constraint& constraint) {
  const bool owned = std::any_of(constraint.repelling.begin(), constraint.repelling.end(),
                                 [&](TopologyGroupId id) { return counts_.has_owners(id); });
  if (!owned) {
    return closed_.empty() ? nullptr : &narrowings_.of(closed_);
  }
  std::vector<Narrowing::Part> parts = closed_;
  for (const KeyId key : constraint.keys) {
    Narrowing::Part part{key, DomainSet(topology_.keys()[key].size()), true};
    if (!counts_.closed(constraint.repelling, key, part.domains)) {
      continue;
    }
    const auto known = std::find_if(parts.begin(), parts.end(),
                                    [key](const auto& other) { return other.key == key; });
    if (known == parts.end()) {
      parts.push_back(std::move(part));
    } else {
      known->domains |= part.domains;
    }
  }
  return parts.empty() ? nullptr : &narrowings_.of(parts);
}

bool TopologyChoices::is_first(const Applicant& applicant, TopologyGroupId group) const {
  if (!applicant.constraint.counts_for(group)) {
    return false;
  }
  const auto& groups = topology_.groups();
  return std::all_of(applicant.rung.groups.begin(), applicant.rung.groups.end(),
                     [&](TopologyGroupId other) {
                       return groups[other].kind != TopologyKind::Affinity ||
                              groups[other].selection_id != groups[group].selection_id ||
                              counts_.total(other) == 0;
                     });
}

bool TopologyChoices::allows(const Applicant& applicant, const Rung::Keyed& keyed,
                             std::int32_t domain) const {
  return std::all_of(keyed.groups.begin(), keyed.groups.end(), [&](TopologyGroupId id) {
    const bool first =
        topology_.groups()[id].kind == TopologyKind::Affinity && is_first(applicant, id);
    return counts_.allows(id, domain, applicant.constraint.counts_for(id), first);
  });
}

bool TopologyChoices::suits(const Applicant& applicant, NodeId node, const HostTally& hosts) const {
  const Rung& rung = applicant.rung;
  return std::all_of(rung.keyed.begin(), rung.keyed.end(),
                     [&](const Rung::Keyed& keyed) {
                       return topology_.whatever_domain(keyed.key, node, [&](std::int32_t domain) {
                         return domain >= 0 ? allows(applicant, keyed, domain)
                                            : only_distance(keyed);
                       });
                     }) &&
         std::all_of(rung.on_host.begin(), rung.on_host.end(), [&](TopologyGroupId group) {
           return topology_.groups()[group].kind != TopologyKind::Affinity ||
                  hosts.selected(group) > 0 || is_first(applicant, group);
         });
}

bool TopologyChoices::only_distance(const Rung::Keyed& keyed) const {
  return std::all_of(keyed.groups.begin(), keyed.groups.end(), [&](TopologyGroupId id) {
    return topology_.groups()[id].kind == TopologyKind::AntiAffinity;
  });
}

bool TopologyChoices::is_indifferent(const Applicant& applicant, TopologyGroupId group) const {
  switch (topology_.groups()[group].kind) {
    case TopologyKind::Affinity:
      return !is_first(applicant, group);
    case TopologyKind::Spread:
      return leave_open_ && !applicant.constraint.counts_for(group);
    case TopologyKind::AntiAffinity:
      return false;
  }
  return false;
}

bool TopologyChoices::find_options(const Applicant& applicant, std::size_t which) {
  const Rung::Keyed& keyed = applicant.rung.keyed[which];
  const TopologyKey& key = topology_.keys()[keyed.key];
  const Requirement* wanted = applicant.rung.requirements.find(key.name());
  const Narrowing* closed = applicant.narrowed.closed;
  auto& options = options_[which];
  options.clear();
  std::optional<TopologyGroupId> spread;
  bool indifferent = true;
  for (const TopologyGroupId id : keyed.groups) {
    const TopologyGroup& group = topology_.groups()[id];
    if (group.kind == TopologyKind::Spread && !spread) {
      spread = id;
    }
    indifferent = indifferent && is_indifferent(applicant, id);
  }
  for (std::size_t i = 0; i < key.size(); ++i) {
    const auto domain = static_cast<std::int32_t>(i);
    if ((wanted == nullptr || wanted->has(key.domains()[i])) &&
        (closed == nullptr || closed->admits(keyed.key, domain)) &&
        allows(applicant, keyed, domain)) {
      options.push_back({spread ? counts_.selected(*spread, domain) : 0, domain});
    }
  }
  if (indifferent && options.size() > 1) {
    // The claim may stay open.
    sets_[which] = DomainSet(key.size());
    for (const Option& option : options) {
      sets_[which].insert(static_cast<std::size_t>(option.domain));
    }
    options.assign(1, {0, kUnknownDomain});
  }
  std::stable_sort(options.begin(), options.end(),
                   [](const Option& a, const Option& b) { return a.rank < b.rank; });
  if (only_distance(keyed) && !model::is_well_known_label(key.name()) &&
      (wanted == nullptr || wanted->admits_absence())) {
    // Nodes without the label are apart from everything.
    options.push_back({0, kNoDomain});
  }
  return !options.empty();
}

Narrowing::Part TopologyChoices::part_of(const Rung::Keyed& keyed, std::size_t which,
                                         const Option& option) const {
  Narrowing::Part part{keyed.key, DomainSet(topology_.keys()[keyed.key].size()), false};
  if (option.domain == kUnknownDomain) {
    part.domains = sets_[which];
  } else if (option.domain == kNoDomain) {
    part.domains = DomainSet::all(topology_.keys()[keyed.key].size());
    part.excluded = true;
  } else {
    part.domains.insert(static_cast<std::size_t>(option.domain));
  }
  return part;
}

const std::vector<TopologyChoice>& TopologyChoices::find(const Applicant& applicant) {
  choices_.clear();
  const auto& keyed = applicant.rung.keyed;
  options_.resize(std::max(options_.size(), keyed.size()));
  sets_.resize(std::max(sets_.size(), keyed.size()));
  if (keyed.empty()) {
    choices_.push_back({});
    return choices_;
  }
  for (std::size_t i = 0; i < keyed.size(); ++i) {
    if (!find_options(applicant, i)) {
      return choices_;
    }
  }
  if (keyed.size() > 1 || options_[0].front().domain == kUnknownDomain) {
    combine(applicant);
    return choices_;
  }
  for (const Option& option : options_[0]) {
    const Narrowing::Part part =
        option.domain == kNoDomain ? part_of(keyed[0], 0, option) : Narrowing::Part{};
    choices_.push_back({option.domain == kNoDomain ? &narrowings_.of({&part, 1})
                                                   : &narrowings_.one(keyed[0].key, option.domain),
                        option.rank});
  }
  return choices_;
}

void TopologyChoices::combine(const Applicant& applicant) {
  const auto& keyed = applicant.rung.keyed;
  std::vector<std::size_t> at(keyed.size(), 0);
  std::vector<Narrowing::Part> parts(keyed.size());
  for (std::size_t which = 0; choices_.size() < kMaxChoices;) {
    std::int64_t rank = 0;
    for (which = 0; which < keyed.size(); ++which) {
      const Option& option = options_[which][at[which]];
      parts[which] = part_of(keyed[which], which, option);
      rank += option.rank;
    }
    choices_.push_back({&narrowings_.of(parts), rank});
    // The next combination, the last key fastest.
    for (which = keyed.size(); which > 0 && ++at[which - 1] == options_[which - 1].size();
         --which) {
      at[which - 1] = 0;
    }
    if (which == 0) {
      break;
    }
  }
  std::stable_sort(choices_.begin(), choices_.end(),
                   [](const auto& a, const auto& b) { return a.rank < b.rank; });
}

}  // namespace millwright::scheduling
