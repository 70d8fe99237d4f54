#include "scheduling/packing/nodes_in_use.hpp"

#include <algorithm>

namespace millwright::scheduling {

NodesInUse::NodesInUse(const CompiledProblem& compiled, TopologyCounts& counts)
    : pods_(compiled.pods), nodes_(compiled.nodes), topology_(compiled.topology), counts_(counts) {
  uses_.reserve(nodes_.nodes().size());
  for (const ExistingNode& node : nodes_.nodes()) {
    uses_.push_back({node.room, node.ports, node.volumes, {}});
  }
  for (const Constraint& constraint : pods_.constraints) {
    meets_rung_.emplace_back(constraint.ladder.size());
  }
  reset_counts();
}

void NodesInUse::reset_counts() {
  const auto& hosts = topology_.hosts();
  for (NodeId node; node < hosts.end_id(); ++node) {
    uses_[node].hosts = hosts[node];
  }
}

bool NodesInUse::admits(NodeId node, const Applicant& applicant, PodId pod) {
  return (!applicant.constraint.has_topology() || is_open(node, applicant)) &&
         meets_rung(node, applicant) &&
         uses_[node].ports.conflict(applicant.constraint.ports) == nullptr &&
         uses_[node].volumes.fit(volumes_of(pod));
}

void NodesInUse::add(NodeId node, const Applicant& applicant, PodId pod) {
  NodeUse& use = uses_[node];
  use.volumes.add(volumes_of(pod));
  subtract_from(use.room, applicant.pod_class.requests);
  use.ports.add(applicant.constraint.ports);
  count(node, applicant.constraint);
}

bool NodesInUse::meets_rung(NodeId node, const Applicant& applicant) {
  auto& by_node = meets_rung_[applicant.pod_class.constraint][applicant.rung_index()];
  if (by_node.empty()) {
    by_node.assign(uses_.size(), -1);
  }
  if (by_node[node] < 0) {
    by_node[node] = nodes_.nodes()[node].admits(applicant.constraint, applicant.rung) ? 1 : 0;
  }
  return by_node[node] == 1;
}

bool NodesInUse::is_open(NodeId node, const Applicant& applicant) const {
  for (const Narrowing* narrowing : {applicant.narrowed.chosen, applicant.narrowed.closed}) {
    if (narrowing != nullptr &&
        !std::all_of(narrowing->parts.begin(), narrowing->parts.end(), [&](const auto& part) {
          return topology_.whatever_domain(part.key, node, [&](std::int32_t domain) {
            return narrowing->admits(part.key, domain);
          });
        })) {
      return false;
    }
  }
  return admits_host(uses_[node].hosts, applicant.constraint, applicant.rung, counts_);
}

bool NodesInUse::counts_for(NodeId node, TopologyGroupId group) {
  const NodeFilter& filter = topology_.groups()[group].filter;
  if (filter.everything()) {
    return true;
  }
  const auto [known, added] =
      counts_for_.try_emplace((std::uint64_t{node.index()} << 32) | group.index(), false);
  if (added) {
    known->second = nodes_.nodes()[node].counts_for(filter);
  }
  return known->second;
}

template <class Selected, class Owned>
void NodesInUse::for_each_count(NodeId node, const Constraint& constraint, Selected selected,
                                Owned owned) {
  const auto& groups = topology_.groups();
  for (const TopologyGroupId id : constraint.counted) {
    if (groups[id].by_host) {
      selected(id, kNoDomain);
      continue;
    }
    const KeyId key = groups[id].key_id;
    const std::int32_t domain = topology_.domain_of(key, node);
    if (domain >= 0 && counts_for(node, id)) {
      selected(id, domain);
    } else if (domain == kUnknownDomain && groups[id].kind == TopologyKind::AntiAffinity) {
      // It may turn out to be any of them.
      for (std::size_t i = 0; i < topology_.keys()[key].size(); ++i) {
        selected(id, static_cast<std::int32_t>(i));
      }
    }
  }
  for (const TopologyGroupId id : constraint.carried) {
    if (groups[id].by_host) {
      owned(id, kNoDomain);
    } else if (const auto domain = topology_.domain_of(groups[id].key_id, node); domain >= 0) {
      owned(id, domain);
    }
  }
}

void NodesInUse::count(NodeId node, const Constraint& constraint) {
  if (!constraint.has_topology()) {
    return;
  }
  HostTally& hosts = uses_[node].hosts;
  for_each_count(
      node, constraint,
      [&](TopologyGroupId id, std::int32_t domain) {
        if (domain == kNoDomain) {
          hosts.add_selected(id);
          counts_.add_on_host(id, node, hosts.selected(id) == 1);
        } else {
          counts_.add_selected(id, domain, true);
        }
      },
      [&](TopologyGroupId id, std::int32_t domain) {
        if (domain == kNoDomain) {
          hosts.add_owner(id);
        } else {
          counts_.add_owner(id, domain);
        }
      });
}

void NodesInUse::uncount(NodeId node, const Constraint& constraint) {
  if (!constraint.has_topology()) {
    return;
  }
  HostTally& hosts = uses_[node].hosts;
  for_each_count(
      node, constraint,
      [&](TopologyGroupId id, std::int32_t domain) {
        if (domain == kNoDomain) {
          hosts.remove_selected(id);
          counts_.remove_from_host(id);
        } else {
          counts_.remove_selected(id, domain, true);
        }
      },
      [&](TopologyGroupId id, std::int32_t domain) {
        if (domain == kNoDomain) {
          hosts.remove_owner(id);
        } else {
          counts_.remove_owner(id, domain);
        }
      });
}

}  // namespace millwright::scheduling
