#include "scheduling/packing/late_placing.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace millwright::scheduling {
namespace {

class LatePlacing {
 public:
  LatePlacing(const CompiledProblem& compiled, Packing& packing)
      : problem_(compiled.problem),
        pods_(compiled.pods),
        nodes_(compiled.nodes),
        topology_(compiled.topology),
        packing_(packing) {}

  void run() {
    std::vector<PodId> late;
    std::copy_if(
        packing_.waiting().begin(), packing_.waiting().end(), std::back_inserter(late),
        [this](PodId pod) { return !packing_.is_postponed(pod) && waits_for_spread(pod); });
    if (late.empty()) {
      return;
    }
    std::vector<Narrowing::Part> uninhabited;
    for (KeyId key; key < topology_.keys().end_id(); ++key) {
      const DomainSet all = DomainSet::all(topology_.keys()[key].size());
      DomainSet some = inhabited(key);
      if (DomainSet rest = all; !some.empty() && !(rest -= some).empty()) {
        uninhabited.push_back({key, std::move(rest), true});
      }
      inhabited_.push_back(some.empty() ? all : std::move(some));
    }
    if (uninhabited.empty()) {
      return;
    }
    packing_.choices().close(std::move(uninhabited));
    packing_.look_again();
    place_all(late);
    packing_.forget_placed();
    // Whoever explains a refusal looks at all domains again.
    packing_.choices().close({});
    packing_.counts().compare_only_with({});
  }

 private:
  void place_all(std::vector<PodId>& late) {
    for (bool any = true; any;) {
      any = false;
      std::vector<bool> failed(pods_.classes.size(), false);
      std::erase_if(late, [&](PodId pod) {
        const std::uint32_t pod_class = pods_.pods[pod].pod_class;
        const bool placed = !failed[pod_class] && place(pod);
        failed[pod_class] = !placed;
        if (!placed && packing_.has_spent_allowance()) {
          packing_.postpone(pod);
        }
        any = any || placed;
        return placed;
      });
    }
  }

  bool place(PodId pod) {
    const std::uint32_t pod_class = pods_.pods[pod].pod_class;
    const std::span<const Rung> ladder = pods_.constraint_of(pod).ladder;
    for (std::size_t i = 0; i < ladder.size() && !packing_.has_spent_allowance(); ++i) {
      const auto [known, added] = compared_.try_emplace({pod_class, i});
      if (added) {
        known->second = compared_with(pods_.class_of(pod), ladder[i]);
      }
      packing_.counts().compare_only_with(known->second);
      if (packing_.place_on(pod, ladder.subspan(i, 1))) {
        return true;
      }
    }
    return false;
  }

  bool waits_for_spread(PodId pod) const {
    const Constraint& constraint = pods_.constraint_of(pod);
    return std::any_of(constraint.ladder.begin(), constraint.ladder.end(), [&](const Rung& rung) {
      return std::any_of(rung.keyed.begin(), rung.keyed.end(), [&](const Rung::Keyed& keyed) {
        return std::any_of(keyed.groups.begin(), keyed.groups.end(), [&](TopologyGroupId group) {
          return topology_.groups()[group].kind == TopologyKind::Spread;
        });
      });
    });
  }

  // Domains that a node has or a claim may come to have.
  DomainSet inhabited(KeyId key) {
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
    std::for_each(problem_.counted_nodes.begin(), problem_.counted_nodes.end(), add_label);
    if (problem_.cluster) {
      const auto& nodes = problem_.cluster->nodes;
      std::for_each(nodes.begin(), nodes.end(), add_label);
    }
    for (NodeId node; node < nodes_.nodes().end_id(); ++node) {
      const std::int32_t domain = topology_.domain_of(key, node);
      const DomainSet* possible = topology_.possible_domains(key, node);
      add_if([&](std::size_t each) {
        return domain == kUnknownDomain ? possible == nullptr || possible->contains(each)
                                        : domain == static_cast<std::int32_t>(each);
      });
    }
    ClaimDrafts& drafts = packing_.drafts();
    for (const ClaimDraft& claim : drafts.claims()) {
      const std::int32_t domain = drafts.domains().of(claim.shape, key);
      const Requirement wanted = drafts.shapes()[claim.shape].requirements.get(known.name());
      add_if([&](std::size_t each) {
        return domain == kUnknownDomain ? wanted.has(known.domains()[each])
                                        : domain == static_cast<std::int32_t>(each);
      });
    }
    return result;
  }

  // Domains that have nodes, and those where the pod could get one on the rung: some instance type
  // would hold it there, though perhaps none is on sale just now.
  ById<KeyId, DomainSet> compared_with(const PodClass& pod_class, const Rung& rung) {
    ById<KeyId, DomainSet> result = inhabited_;
    const Constraint& constraint = pods_.constraints[pod_class.constraint];
    for (const Rung::Keyed& keyed : rung.keyed) {
      const TopologyKey& key = topology_.keys()[keyed.key];
      const Requirement wanted = rung.requirements.get(key.name());
      for (std::size_t domain = 0; domain < key.size(); ++domain) {
        if (wanted.has(key.domains()[domain]) && !result[keyed.key].contains(domain) &&
            could_be_in({pod_class, constraint, rung}, keyed.key, domain)) {
          result[keyed.key].insert(domain);
        }
      }
    }
    return result;
  }

  bool could_be_in(Applicant applicant, KeyId key, std::size_t domain) {
    ClaimDrafts& drafts = packing_.drafts();
    applicant.narrowed.chosen = &drafts.domains().narrowing(key, static_cast<std::int32_t>(domain));
    return packing_.could_be_bought(applicant);
  }

  const Problem& problem_;
  const PodClasses& pods_;
  const ExistingNodes& nodes_;
  const Topology& topology_;
  Packing& packing_;
  ById<KeyId, DomainSet> inhabited_;  // all domains where none has a node
  // By class and rung: what their spread constraints compare with.
  std::map<std::pair<std::uint32_t, std::size_t>, ById<KeyId, DomainSet>> compared_;
};

}  // namespace

void place_among_nodes(const CompiledProblem& compiled, Packing& packing) {
  LatePlacing(compiled, packing).run();
}

}  // namespace millwright::scheduling
