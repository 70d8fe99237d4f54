#include "scheduling/compile/pods/relaxation.hpp"

#include <algorithm>
#include <utility>

namespace millwright::scheduling {
namespace {

// More than anyone writes; they bound the work that one pod can cause.
constexpr std::size_t kMaxTerms = 128;
constexpr std::size_t kMaxPreferences = 64;

using Selectors = std::vector<model::SelectorRequirement>;

// False, with a reason, when nothing can meet both the item and what is there.
bool add_item(Requirements& requirements, const Requirement& item, Unsupported& conflict) {
  const Requirement* present = requirements.find(item.key());
  if (item.is_impossible()) {
    conflict = {"it can never be scheduled: no value of label " + item.key() +
                    " can meet its node selector",
                "remove " + item.key() + " from its node selector"};
    return false;
  }
  if (present != nullptr && !present->has_intersection(item) &&
      !(present->admits_absence() && item.admits_absence())) {
    conflict = {"it can never be scheduled: its own requirements exclude each other: " +
                    present->to_string() + " and " + item.to_string(),
                "remove one of the two"};
    return false;
  }
  requirements.add(item);
  return true;
}

bool add_all(Requirements& requirements, const Selectors& items, Unsupported& conflict) {
  return std::all_of(items.begin(), items.end(), [&](const auto& item) {
    return add_item(requirements, Requirement(item.key, item.op, item.values), conflict);
  });
}

bool add_volumes(Requirements& requirements, const Requirements& volumes, Unsupported& conflict) {
  return std::all_of(volumes.begin(), volumes.end(), [&](const Requirement& item) {
    const Requirement own = requirements.get(item.key());
    if (add_item(requirements, item, conflict)) {
      return true;
    }
    conflict = {"it can never be scheduled: its node selector wants " + own.to_string() +
                    ", its volumes want " + item.to_string(),
                "remove " + item.key() + " from its node selector"};
    return false;
  });
}

// How far the pod has come down: what of its wishes is left.
struct Wishes {
  std::size_t dropped_affinity = 0;
  std::size_t dropped_anti_affinity = 0;
  std::size_t dropped_nodes = 0;
  std::size_t dropped_spread = 0;
  bool tolerates_preferences = false;
};

class Ladder {
 public:
  Ladder(const LadderInput& input, Unsupported& conflict) : input_(input), conflict_(conflict) {
    base_ = Requirements::from_labels(input.spec.node_selector);
    for (const auto& term : input.spec.affinity.required_node_terms) {
      terms_.push_back(&term.match_expressions);
    }
    if (terms_.empty()) {
      terms_.push_back(&kNothing);
    }
    terms_.resize(std::min(terms_.size(), kMaxTerms));
    preferences_ = preferences_by_weight();
  }

  std::vector<Rung> build() {
    Wishes wishes;
    for (const Selectors* term : terms_) {
      add_rung(*term, wishes);
    }
    const Selectors& last = *terms_.back();
    const auto drop = [&](std::size_t& dropped, std::size_t count) {
      while (dropped < std::min(count, kMaxPreferences)) {
        ++dropped;
        add_rung(last, wishes);
      }
      dropped = count;
    };
    drop(wishes.dropped_affinity, input_.topology.preferred_affinity.size());
    drop(wishes.dropped_anti_affinity, input_.topology.preferred_anti_affinity.size());
    drop(wishes.dropped_nodes, preferences_.size());
    drop(wishes.dropped_spread, input_.topology.optional_spread.size());
    Wishes soft = wishes;
    soft.tolerates_preferences = true;
    if (input_.has_soft_taints) {
      add_rung(last, soft);
    }
    for (std::size_t i = 0; i + 1 < terms_.size(); ++i) {
      add_rung(*terms_[i], wishes);
    }
    for (std::size_t i = 0; input_.has_soft_taints && i + 1 < terms_.size(); ++i) {
      add_rung(*terms_[i], soft);
    }
    return std::move(rungs_);
  }

 private:
  std::vector<const Selectors*> preferences_by_weight() const {
    std::vector<const model::PreferredNodeTerm*> sorted;
    if (input_.preferences == PreferencePolicy::Respect) {
      for (const auto& preferred : input_.spec.affinity.preferred_node_terms) {
        sorted.push_back(&preferred);
      }
    }
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto* a, const auto* b) { return a->weight > b->weight; });
    std::vector<const Selectors*> result;
    for (const auto* preferred : sorted) {
      result.push_back(&preferred->term.match_expressions);
    }
    result.resize(std::min(result.size(), kMaxPreferences));
    return result;
  }

  std::vector<TopologyGroupId> groups_of(const Wishes& wishes) const {
    const PodTopology& topology = input_.topology;
    std::vector<TopologyGroupId> groups = topology.required;
    const auto add_from = [&](const auto& items, std::size_t first, auto id_of) {
      for (std::size_t i = first; i < items.size(); ++i) {
        groups.push_back(id_of(items[i]));
      }
    };
    const auto weighted = [](const PodTopology::Weighted& item) { return item.group; };
    add_from(topology.preferred_affinity, wishes.dropped_affinity, weighted);
    add_from(topology.preferred_anti_affinity, wishes.dropped_anti_affinity, weighted);
    add_from(topology.optional_spread, wishes.dropped_spread,
             [](TopologyGroupId id) { return id; });
    std::sort(groups.begin(), groups.end());
    groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
    return groups;
  }

  void add_rung(const Selectors& term, const Wishes& wishes) {
    const Selectors& preference =
        wishes.dropped_nodes < preferences_.size() ? *preferences_[wishes.dropped_nodes] : kNothing;
    Rung rung{.requirements = base_,
              .tolerates_preferences = wishes.tolerates_preferences,
              .step = step_++,
              .groups = groups_of(wishes)};
    Unsupported conflict;
    if (!add_all(rung.requirements, preference, conflict) ||
        !add_all(rung.requirements, term, conflict)) {
      conflict_ = conflict;
      return;
    }
    if (input_.volume_alternatives.empty()) {
      push(std::move(rung));
      return;
    }
    for (const Requirements& alternative : input_.volume_alternatives) {
      Rung with_volumes = rung;
      if (add_volumes(with_volumes.requirements, alternative, conflict)) {
        push(std::move(with_volumes));
      } else {
        conflict_ = conflict;
      }
    }
  }

  void push(Rung rung) {
    const bool tried = std::any_of(rungs_.begin(), rungs_.end(), [&](const Rung& other) {
      return other.tolerates_preferences == rung.tolerates_preferences &&
             other.groups == rung.groups && other.requirements == rung.requirements;
    });
    if (!tried) {
      rungs_.push_back(std::move(rung));
    }
  }

  static inline const Selectors kNothing{};
  const LadderInput& input_;
  Unsupported& conflict_;
  Requirements base_;
  std::vector<const Selectors*> terms_;
  std::vector<const Selectors*> preferences_;
  std::uint32_t step_ = 0;
  std::vector<Rung> rungs_;
};

}  // namespace

std::vector<Rung> relaxation_ladder(const LadderInput& input, Unsupported& conflict) {
  return Ladder(input, conflict).build();
}

}  // namespace millwright::scheduling
