#include "scheduling/topology/topology_counts.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace millwright::scheduling {

TopologyCounts::TopologyCounts(const Topology& topology) : topology_(topology) {
  reset();
}

void TopologyCounts::reset() {
  states_.clear();
  ++version_;
  if (topology_.empty()) {
    return;
  }
  for (TopologyGroupId id; id < topology_.groups().end_id(); ++id) {
    const Census& census = topology_.census(id);
    State& state = states_.emplace_back();
    state.selected = census.selected;
    state.sure = census.selected;
    state.owners = census.owners;
    state.total = census.total;
    state.owned = std::any_of(census.owners.begin(), census.owners.end(),
                              [](std::int32_t count) { return count > 0; });
    const TopologyGroup& group = topology_.groups()[id];
    if (group.by_host && group.kind == TopologyKind::Affinity) {
      for (NodeId node; node < topology_.hosts().end_id(); ++node) {
        if (topology_.hosts()[node].selected(id) > 0) {
          state.hosts.emplace_back(node);
        }
      }
    }
  }
}

void TopologyCounts::add_selected(TopologyGroupId group, std::int32_t domain, bool sure) {
  State& state = states_[group];
  ++state.selected[static_cast<std::size_t>(domain)];
  if (auto& count = state.sure[static_cast<std::size_t>(domain)]; sure) {
    if (count == state.least) {
      state.least = -1;
    }
    ++count;
  }
  ++state.total;
  ++version_;
}

void TopologyCounts::add_owner(TopologyGroupId group, std::int32_t domain) {
  ++states_[group].owners[static_cast<std::size_t>(domain)];
  states_[group].owned = true;
  ++version_;
}

void TopologyCounts::add_on_host(TopologyGroupId group, HostRef host, bool first) {
  ++states_[group].total;
  ++version_;
  if (first && topology_.groups()[group].kind == TopologyKind::Affinity) {
    states_[group].hosts.push_back(host);
  }
}

void TopologyCounts::remove_selected(TopologyGroupId group, std::int32_t domain, bool sure) {
  State& state = states_[group];
  --state.selected[static_cast<std::size_t>(domain)];
  if (sure) {
    --state.sure[static_cast<std::size_t>(domain)];
    state.least = -1;
  }
  --state.total;
  ++version_;
}

void TopologyCounts::remove_owner(TopologyGroupId group, std::int32_t domain) {
  --states_[group].owners[static_cast<std::size_t>(domain)];
  ++version_;
}

void TopologyCounts::remove_from_host(TopologyGroupId group) {
  --states_[group].total;
  ++version_;
}

void TopologyCounts::add_floating(TopologyGroupId group, ClaimId claim) {
  auto& floating = states_[group].floating;
  if (floating.empty() || floating.back() != claim) {
    floating.push_back(claim);
  }
  ++version_;
}

void TopologyCounts::put_back_floating(TopologyGroupId group, ClaimId claim) {
  states_[group].floating.push_back(claim);
}

std::vector<ClaimId> TopologyCounts::take_floating(TopologyGroupId group) {
  return std::exchange(states_[group].floating, {});
}

void TopologyCounts::compare_only_with(std::map<TopologyGroupId, DomainSet> domains) {
  compared_ = std::move(domains);
  for (State& state : states_) {
    state.least = -1;
  }
  ++version_;
}

std::int32_t TopologyCounts::least(TopologyGroupId group) const {
  const State& state = states_[group];
  if (state.least >= 0) {
    return state.least;
  }
  std::int32_t least = std::numeric_limits<std::int32_t>::max();
  std::int32_t domains = 0;
  const TopologyGroup& spread = topology_.groups()[group];
  const auto compared = compared_.find(group);
  topology_.census(group).eligible.for_each([&](std::size_t domain) {
    if (compared == compared_.end() || compared->second.contains(domain)) {
      least = std::min(least, state.sure[domain]);
      ++domains;
    }
  });
  if (domains == 0 || domains < spread.min_domains.value_or(0)) {
    least = 0;
  }
  state.least = least;
  return least;
}

bool TopologyCounts::allows(TopologyGroupId group, std::int32_t domain, bool self,
                            bool first) const {
  const TopologyGroup& held = topology_.groups()[group];
  const std::int32_t count = selected(group, domain);
  switch (held.kind) {
    case TopologyKind::Spread:
      return count + (self ? 1 : 0) - least(group) <= held.max_skew;
    case TopologyKind::Affinity:
      return count > 0 || first;
    case TopologyKind::AntiAffinity:
      return count == 0;
  }
  return false;
}

bool TopologyCounts::closed(std::span<const TopologyGroupId> repelling, KeyId key,
                            DomainSet& out) const {
  bool any = false;
  for (const TopologyGroupId group : repelling) {
    const TopologyGroup& repels = topology_.groups()[group];
    if (repels.by_host || repels.key_id != key || !states_[group].owned) {
      continue;
    }
    const auto& owners = states_[group].owners;
    for (std::size_t domain = 0; domain < owners.size(); ++domain) {
      if (owners[domain] > 0) {
        out.insert(domain);
        any = true;
      }
    }
  }
  return any;
}

bool admits_host(const HostTally& tally, const Constraint& constraint, const Rung& rung,
                 const TopologyCounts& counts) {
  for (const TopologyGroupId id : rung.on_host) {
    const TopologyGroup& group = counts.topology().groups()[id];
    const std::int32_t here = tally.selected(id);
    // Any number of nodes can be made, so the least count of a spread is zero.
    if (group.kind == TopologyKind::Spread
            ? here + (constraint.counts_for(id) ? 1 : 0) > group.max_skew
            : group.kind == TopologyKind::AntiAffinity && here > 0) {
      return false;
    }
  }
  return std::all_of(constraint.repelling.begin(), constraint.repelling.end(),
                     [&](TopologyGroupId id) { return tally.owners(id) == 0; });
}

}  // namespace millwright::scheduling
