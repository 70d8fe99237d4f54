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
    for (KeyId key; key < topology_.keys().end_id(); ++key) {
      const DomainSet all = DomainSet::all(topology_.keys()[key].size());
      DomainSet some = inhabited(key, nullptr);
      if (DomainSet rest = all; !some.empty() && !(rest -= some).empty()) {
        uninhabited_.push_back({key, std::move(rest), true});
      }
      inhabited_.push_back(some.empty() ? all : std::move(some));
    }
    if (uninhabited_.empty() && !any_may_compare_with_fewer(late)) {
      return;
    }
    packing_.look_again();
    place_all(late);
    packing_.forget_placed();
    // Whoever explains a refusal looks at all domains again.
    packing_.choices().close({});
    packing_.counts().compare_only_with({});
  }

 private:
  // What the spread constraints of one class compare with on one rung, and where it may not go.
  struct View {
    std::map<TopologyGroupId, DomainSet> compared;
    std::vector<Narrowing::Part> closed;
  };

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
      const auto [known, added] = views_.try_emplace({pod_class, i});
      if (added) {
        known->second = view_of(pods_.class_of(pod), ladder[i]);
      }
      packing_.choices().close(known->second.closed);
      packing_.counts().compare_only_with(known->second.compared);
      if (packing_.place_on(pod, ladder.subspan(i, 1))) {
        return true;
      }
    }
    return false;
  }

  bool waits_for_spread(PodId pod) const {
    return any_spread(pod, [](TopologyGroupId) { return true; });
  }

  bool any_may_compare_with_fewer(const std::vector<PodId>& late) {
    std::vector<bool> looked_at(pods_.classes.size(), false);
    return std::any_of(late.begin(), late.end(), [&](PodId pod) {
      const std::uint32_t pod_class = pods_.pods[pod].pod_class;
      if (looked_at[pod_class]) {
        return false;
      }
      looked_at[pod_class] = true;
      return any_spread(pod, [&](TopologyGroupId group) {
        DomainSet rest = topology_.census(group).eligible;
        return !(rest -= inhabited_by(group)).empty();
      });
    });
  }

  template <class Meets>
  bool any_spread(PodId pod, Meets meets) const {
    const Constraint& constraint = pods_.constraint_of(pod);
    return std::any_of(constraint.ladder.begin(), constraint.ladder.end(), [&](const Rung& rung) {
      return std::any_of(rung.keyed.begin(), rung.keyed.end(), [&](const Rung::Keyed& keyed) {
        return std::any_of(keyed.groups.begin(), keyed.groups.end(), [&](TopologyGroupId group) {
          return topology_.groups()[group].kind == TopologyKind::Spread && meets(group);
        });
      });
    });
  }

  // Where nodes are whose pods the group counts.
  const DomainSet& inhabited_by(TopologyGroupId group) {
    const TopologyGroup& spread = topology_.groups()[group];
    if (spread.filter.everything()) {
      return inhabited_[spread.key_id];
    }
    const auto [known, added] = inhabited_by_.try_emplace(group);
    if (added) {
      known->second = inhabited(spread.key_id, &group);
    }
    return known->second;
  }

  // Domains that a node has or a claim may come to have; not null: of those that the group counts.
  DomainSet inhabited(KeyId key, const TopologyGroupId* group) {
    const TopologyKey& known = topology_.keys()[key];
    const NodeFilter* filter = group == nullptr ? nullptr : &topology_.groups()[*group].filter;
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
      if (label != node->labels().end() && (filter == nullptr || counts_node(*filter, *node))) {
        add_if([&](std::size_t domain) { return known.domains()[domain] == label->second; });
      }
    };
    std::for_each(problem_.counted_nodes.begin(), problem_.counted_nodes.end(), add_label);
    if (problem_.cluster) {
      const auto& nodes = problem_.cluster->nodes;
      std::for_each(nodes.begin(), nodes.end(), add_label);
    }
    for (NodeId node; node < nodes_.nodes().end_id(); ++node) {
      if (filter != nullptr && !nodes_.nodes()[node].may_count_for(*filter)) {
        continue;
      }
      const std::int32_t domain = topology_.domain_of(key, node);
      const DomainSet* possible = topology_.possible_domains(key, node);
      add_if([&](std::size_t each) {
        return domain == kUnknownDomain ? possible == nullptr || possible->contains(each)
                                        : domain == static_cast<std::int32_t>(each);
      });
    }
    ClaimDrafts& drafts = packing_.drafts();
    for (const ClaimDraft& claim : drafts.claims()) {
      if (group != nullptr && drafts.domains().counting(claim, *group) == Counting::No) {
        continue;
      }
      const std::int32_t domain = drafts.domains().of(claim.shape, key);
      const Requirement wanted = drafts.shapes()[claim.shape].requirements.get(known.name());
      add_if([&](std::size_t each) {
        return domain == kUnknownDomain ? wanted.has(known.domains()[each])
                                        : domain == static_cast<std::int32_t>(each);
      });
    }
    return result;
  }

  // Each compares with domains where nodes are whose pods it counts, and with those where the pod
  // could get one on the rung: some instance type would hold it there, though perhaps none is on
  // sale just now.
  View view_of(const PodClass& pod_class, const Rung& rung) {
    View view{.compared = {}, .closed = uninhabited_};
    const Applicant applicant{pod_class, pods_.constraints[pod_class.constraint], rung};
    for (const Rung::Keyed& keyed : rung.keyed) {
      std::vector<TopologyGroupId> spreads;
      std::copy_if(keyed.groups.begin(), keyed.groups.end(), std::back_inserter(spreads),
                   [this](TopologyGroupId group) {
                     return topology_.groups()[group].kind == TopologyKind::Spread;
                   });
      const DomainSet more = within_reach(applicant, keyed.key, spreads);
      for (const TopologyGroupId group : spreads) {
        const DomainSet& there = inhabited_by(group);
        close_all_but(there, keyed.key, view.closed);
        (view.compared[group] = there) |= more;
      }
    }
    return view;
  }

  // A domain that gets its first node would count for those that were not compared with it.
  void close_all_but(const DomainSet& there, KeyId key,
                     std::vector<Narrowing::Part>& closed) const {
    DomainSet rest = DomainSet::all(topology_.keys()[key].size());
    rest -= there;
    if (there.empty() || rest.empty()) {
      return;
    }
    const auto known = std::find_if(closed.begin(), closed.end(),
                                    [key](const auto& part) { return part.key == key; });
    if (known == closed.end()) {
      closed.push_back({key, std::move(rest), true});
      return;
    }
    rest |= known->domains;
    // All of them would mean that the node is to have no such label.
    if (rest.count() < topology_.keys()[key].size()) {
      known->domains = std::move(rest);
    }
  }

  // Where the pod could get a node, of the domains in which one of the groups counts none yet.
  DomainSet within_reach(const Applicant& applicant, KeyId id,
                         const std::vector<TopologyGroupId>& spreads) {
    const TopologyKey& key = topology_.keys()[id];
    const Requirement wanted = applicant.rung.requirements.get(key.name());
    DomainSet result(key.size());
    for (std::size_t domain = 0; domain < key.size(); ++domain) {
      const bool known = std::all_of(spreads.begin(), spreads.end(), [&](TopologyGroupId group) {
        return inhabited_by(group).contains(domain);
      });
      if (!known && wanted.has(key.domains()[domain]) && could_be_in(applicant, id, domain)) {
        result.insert(domain);
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
  std::map<TopologyGroupId, DomainSet> inhabited_by_;
  std::vector<Narrowing::Part> uninhabited_;
  std::map<std::pair<std::uint32_t, std::size_t>, View> views_;  // by class and rung
};

}  // namespace

void place_among_nodes(const CompiledProblem& compiled, Packing& packing) {
  LatePlacing(compiled, packing).run();
}

}  // namespace millwright::scheduling
