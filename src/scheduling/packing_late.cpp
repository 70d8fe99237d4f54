// The last step of Packing, for pods that a spread constraint keeps waiting.
//
// kube-scheduler compares a spread constraint with the domains that have nodes; Karpenter with
// those that the pod itself may go to, whether they have nodes or not. While a plan is in the
// making both count here, and every other domain that a NodePool can provide as well, since another
// pod may yet need a node there. In the end it is known which domains have nodes: one that has
// none, and that the pod could not go to anyway, cannot be what keeps it waiting. Nothing that is
// placed here may give such a domain a node after all.
#include "scheduling/packing.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace millwright::scheduling {

bool Packing::waits_for_spread(std::uint32_t pod) const {
  const Constraint& constraint =
      pods_.constraints[pods_.classes[pods_.pods[pod].pod_class].constraint];
  return std::any_of(constraint.ladder.begin(), constraint.ladder.end(), [&](const Rung& rung) {
    return std::any_of(rung.keyed.begin(), rung.keyed.end(), [&](const Rung::Keyed& keyed) {
      return std::any_of(keyed.groups.begin(), keyed.groups.end(), [&](std::uint32_t group) {
        return topology_.groups()[group].kind == TopologyKind::Spread;
      });
    });
  });
}

DomainSet Packing::inhabited(std::uint32_t key, const Problem& problem) {
  const TopologyKey& known = topology_.keys()[key];
  DomainSet result(known.size());
  const auto add_if = [&](auto admits) {
    for (std::size_t domain = 0; domain < known.size(); ++domain) {
      if (admits(domain)) {
        result.insert(domain);
      }
    }
  };
  const auto add_label = [&](const NodeRecordPtr& node) {
    const auto label = node->labels().find(known.name());
    if (label != node->labels().end()) {
      add_if([&](std::size_t domain) { return known.domains()[domain] == label->second; });
    }
  };
  std::for_each(problem.counted_nodes.begin(), problem.counted_nodes.end(), add_label);
  if (problem.surroundings) {
    const auto& nodes = problem.surroundings->nodes;
    std::for_each(nodes.begin(), nodes.end(), add_label);
  }
  for (std::uint32_t node = 0; node < nodes_.nodes().size(); ++node) {
    const std::int32_t domain = topology_.domain_of(key, node);
    const DomainSet* possible = topology_.possible_domains(key, node);
    add_if([&](std::size_t each) {
      return domain == kUnknownDomain ? possible == nullptr || possible->contains(each)
                                      : domain == static_cast<std::int32_t>(each);
    });
  }
  for (const ClaimDraft& claim : drafts_.claims()) {
    const std::int32_t domain = drafts_.domain_of(claim.shape, key);
    const Requirement wanted = drafts_.shapes()[claim.shape].requirements.get(known.name());
    add_if([&](std::size_t each) {
      return domain == kUnknownDomain ? wanted.has(known.domains()[each])
                                      : domain == static_cast<std::int32_t>(each);
    });
  }
  return result;
}

// Domains that have nodes, and those that the pod may go to on the rung.
std::vector<DomainSet> Packing::compared_with(const std::vector<DomainSet>& inhabited,
                                              const Rung& rung) const {
  std::vector<DomainSet> result = inhabited;
  for (const Rung::Keyed& keyed : rung.keyed) {
    const TopologyKey& key = topology_.keys()[keyed.key];
    const Requirement wanted = rung.requirements.get(key.name());
    for (std::size_t domain = 0; domain < key.size(); ++domain) {
      if (wanted.has(key.domains()[domain])) {
        result[keyed.key].insert(domain);
      }
    }
  }
  return result;
}

void Packing::place_among_nodes(const Problem& problem) {
  std::vector<std::uint32_t> late;
  std::copy_if(waiting_.begin(), waiting_.end(), std::back_inserter(late),
               [this](std::uint32_t pod) { return waits_for_spread(pod); });
  if (late.empty()) {
    return;
  }
  std::vector<DomainSet> by_key;
  std::vector<Narrowing::Part> uninhabited;
  for (std::uint32_t key = 0; key < topology_.keys().size(); ++key) {
    const DomainSet all = DomainSet::all(topology_.keys()[key].size());
    DomainSet some = inhabited(key, problem);
    if (DomainSet rest = all; !some.empty() && !(rest -= some).empty()) {
      uninhabited.push_back({key, std::move(rest), true});
    }
    by_key.push_back(some.empty() ? all : std::move(some));
  }
  if (uninhabited.empty()) {
    return;
  }
  choices_.close(std::move(uninhabited));
  look_again();
  for (bool any = true; any;) {
    any = false;
    std::vector<bool> failed(pods_.classes.size(), false);
    std::erase_if(late, [&](std::uint32_t pod) {
      const std::uint32_t pod_class = pods_.pods[pod].pod_class;
      if (failed[pod_class]) {
        return false;
      }
      const bool placed = place_compared_with(by_key, pod);
      failed[pod_class] = !placed;
      any = any || placed;
      return placed;
    });
  }
  std::erase_if(waiting_, [this](std::uint32_t pod) {
    return outcomes_[pod].kind != Outcome::Kind::Refused;
  });
  // Whoever explains a refusal looks at all domains again.
  choices_.close({});
  counts_.compare_only_with({});
}

bool Packing::place_compared_with(const std::vector<DomainSet>& inhabited, std::uint32_t pod) {
  const std::uint32_t pod_class = pods_.pods[pod].pod_class;
  const std::span<const Rung> ladder =
      pods_.constraints[pods_.classes[pod_class].constraint].ladder;
  for (std::size_t i = 0; i < ladder.size(); ++i) {
    counts_.compare_only_with(compared_with(inhabited, ladder[i]));
    if (place_in_stages(pod, ladder.subspan(i, 1), seekers_[pod_class])) {
      return true;
    }
  }
  return false;
}

}  // namespace millwright::scheduling
