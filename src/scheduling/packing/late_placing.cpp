#include "scheduling/packing/late_placing.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <set>
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
      DomainSet some = inhabited(key, std::nullopt);
      if (DomainSet rest = all; !some.empty() && !(rest -= some).empty()) {
        uninhabited_.push_back({key, std::move(rest), true});
      }
      inhabited_.push_back(some.empty() ? all : std::move(some));
    }
    find_spreads(late);
    if (uninhabited_.empty() && !any_may_compare_with_fewer()) {
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
    bool nowhere = false;
  };
  struct Inhabited {
    TopologyGroupId group;  // and all with its key and filter
    DomainSet domains;      // where nodes are that it counts
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
      if (use_view_of(pod, pod_class, i) && packing_.place_on(pod, ladder.subspan(i, 1))) {
        return true;
      }
    }
    return false;
  }

  // False when the class may go nowhere on this rung.
  bool use_view_of(PodId pod, std::uint32_t pod_class, std::size_t rung) {
    const auto [known, added] = views_.try_emplace({pod_class, rung});
    const View& view = known->second;
    if (added) {
      known->second = view_of(pods_.class_of(pod), pods_.constraint_of(pod).ladder[rung]);
    }
    if (&view != in_use_) {
      packing_.choices().close(view.closed);
      packing_.counts().compare_only_with(view.compared);
      in_use_ = &view;
    }
    return !view.nowhere;
  }

  bool is_spread(TopologyGroupId group) const {
    return topology_.groups()[group].kind == TopologyKind::Spread;
  }

  bool waits_for_spread(PodId pod) const {
    const Constraint& constraint = pods_.constraint_of(pod);
    return std::any_of(constraint.ladder.begin(), constraint.ladder.end(), [&](const Rung& rung) {
      return std::any_of(rung.keyed.begin(), rung.keyed.end(), [&](const Rung::Keyed& keyed) {
        return std::any_of(keyed.groups.begin(), keyed.groups.end(),
                           [this](TopologyGroupId group) { return is_spread(group); });
      });
    });
  }

  // On any rung.
  std::set<TopologyGroupId> spreads_of(const Constraint& constraint) const {
    std::set<TopologyGroupId> result;
    for (const Rung& rung : constraint.ladder) {
      for (const Rung::Keyed& keyed : rung.keyed) {
        const auto spreads = spreads_among(keyed);
        result.insert(spreads.begin(), spreads.end());
      }
    }
    return result;
  }

  std::vector<TopologyGroupId> spreads_among(const Rung::Keyed& keyed) const {
    std::vector<TopologyGroupId> result;
    std::copy_if(keyed.groups.begin(), keyed.groups.end(), std::back_inserter(result),
                 [this](TopologyGroupId group) { return is_spread(group); });
    return result;
  }

  void find_spreads(const std::vector<PodId>& late) {
    std::vector<bool> looked_at(pods_.classes.size(), false);
    for (const PodId pod : late) {
      const std::uint32_t pod_class = pods_.pods[pod].pod_class;
      if (!looked_at[pod_class]) {
        looked_at[pod_class] = true;
        for (const TopologyGroupId group : spreads_of(pods_.constraint_of(pod))) {
          ++spreads_[group];
        }
      }
    }
  }

  bool any_may_compare_with_fewer() {
    return std::any_of(spreads_.begin(), spreads_.end(), [this](const auto& spread) {
      DomainSet rest = topology_.census(spread.first).eligible;
      return !(rest -= inhabited_by(spread.first)).empty();
    });
  }

  // Where nodes are whose pods the group counts. Most groups have the filter of another one.
  const DomainSet& inhabited_by(TopologyGroupId group) {
    const auto [known, added] = inhabited_by_.try_emplace(group, nullptr);
    if (added) {
      known->second = &find_inhabited_by(group);
    }
    return *known->second;
  }

  const DomainSet& find_inhabited_by(TopologyGroupId group) {
    const TopologyGroup& spread = topology_.groups()[group];
    if (spread.filter.everything()) {
      return inhabited_[spread.key_id];
    }
    const auto same = std::find_if(filtered_.begin(), filtered_.end(), [&](const auto& each) {
      const TopologyGroup& other = topology_.groups()[each.group];
      return other.key_id == spread.key_id && other.filter == spread.filter;
    });
    if (same != filtered_.end()) {
      return same->domains;
    }
    filtered_.push_back({group, inhabited(spread.key_id, group)});
    return filtered_.back().domains;
  }

  // Domains that a node has or a claim may come to have; of those that the group counts, if any.
  DomainSet inhabited(KeyId key, std::optional<TopologyGroupId> group) {
    const TopologyKey& known = topology_.keys()[key];
    const NodeFilter* filter = group ? &topology_.groups()[*group].filter : nullptr;
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
      const std::int32_t domain =
          label == node->labels().end() ? kNoDomain : known.find(label->second);
      if (domain >= 0 && !result.contains(static_cast<std::size_t>(domain)) &&
          (filter == nullptr || counts_node(*filter, *node))) {
        result.insert(static_cast<std::size_t>(domain));
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
      if (group && drafts.domains().counting(claim, *group) == Counting::No) {
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
      const auto spreads = spreads_among(keyed);
      const DomainSet more = within_reach(applicant, keyed.key, spreads);
      for (const TopologyGroupId group : spreads) {
        (view.compared[group] = inhabited_by(group)) |= more;
      }
    }
    for (const auto& [group, classes] : spreads_) {
      if (may_give_a_node_to(group, rung)) {
        const auto own = classes == 1 ? view.compared.find(group) : view.compared.end();
        close_all_but(own == view.compared.end() ? inhabited_by(group) : own->second,
                      topology_.groups()[group].key_id, view);
      }
    }
    return view;
  }

  // Whether a new node of such a pod may be one whose pods the group counts.
  bool may_give_a_node_to(TopologyGroupId group, const Rung& rung) const {
    const auto& alternatives = topology_.groups()[group].filter.alternatives;
    return alternatives.empty() || std::any_of(alternatives.begin(), alternatives.end(),
                                               [&](const Requirements& alternative) {
                                                 return rung.requirements.intersects(alternative);
                                               });
  }

  // A domain that gets its first node would count for pods that were not compared with it.
  void close_all_but(const DomainSet& open, KeyId key, View& view) const {
    const DomainSet all = DomainSet::all(topology_.keys()[key].size());
    DomainSet rest = all;
    rest -= open;
    if (open.empty() || rest.empty()) {
      return;
    }
    auto known = std::find_if(view.closed.begin(), view.closed.end(),
                              [key](const auto& part) { return part.key == key; });
    if (known == view.closed.end()) {
      known = view.closed.insert(known, {key, DomainSet(topology_.keys()[key].size()), true});
    }
    known->domains |= rest;
    // To exclude them all would mean that the node is to have no such label.
    view.nowhere = view.nowhere || known->domains.count() == all.count();
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
  std::map<TopologyGroupId, int> spreads_;  // that late pods are held to: of how many classes
  ById<KeyId, DomainSet> inhabited_;        // all domains where none has a node
  std::map<TopologyGroupId, const DomainSet*> inhabited_by_;
  std::deque<Inhabited> filtered_;
  std::vector<Narrowing::Part> uninhabited_;
  std::map<std::pair<std::uint32_t, std::size_t>, View> views_;  // by class and rung
  const View* in_use_ = nullptr;
};

}  // namespace

void place_among_nodes(const CompiledProblem& compiled, Packing& packing) {
  LatePlacing(compiled, packing).run();
}

}  // namespace millwright::scheduling
