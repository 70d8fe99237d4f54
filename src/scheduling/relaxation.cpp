#include "scheduling/relaxation.hpp"

#include <algorithm>
#include <utility>

namespace millwright::scheduling {
namespace {

// More than anyone writes; they bound the work that one pod can cause.
constexpr std::size_t kMaxTerms = 128;
constexpr std::size_t kMaxPreferences = 64;

using Selectors = std::vector<model::SelectorRequirement>;

// False, with a reason, when nothing can meet both the item and what is there.
bool add_item(Requirements& requirements, const Requirement& item, std::string& conflict) {
  const Requirement* present = requirements.find(item.key());
  if (item.is_impossible()) {
    conflict = "no value of label " + item.key() + " can meet its node selector";
    return false;
  }
  if (present != nullptr && !present->has_intersection(item) &&
      !(present->admits_absence() && item.admits_absence())) {
    conflict = "its own requirements exclude each other: " + present->to_string() + " and " +
               item.to_string();
    return false;
  }
  requirements.add(item);
  return true;
}

bool add_all(Requirements& requirements, const Selectors& items, std::string& conflict) {
  return std::all_of(items.begin(), items.end(), [&](const auto& item) {
    return add_item(requirements, Requirement(item.key, item.op, item.values), conflict);
  });
}

bool add_all(Requirements& requirements, const Requirements& more, std::string& conflict) {
  return std::all_of(more.begin(), more.end(), [&](const Requirement& item) {
    return add_item(requirements, item, conflict);
  });
}

class Ladder {
 public:
  Ladder(const LadderInput& input, std::string& conflict) : input_(input), conflict_(conflict) {
    base_ = Requirements::from_labels(input.spec.node_selector);
    base_.add(input.forbidden);
    for (const auto& term : input.spec.affinity.required_node_terms) {
      terms_.push_back(&term.match_expressions);
    }
    if (terms_.empty()) {
      terms_.push_back(&kNothing);
    }
    terms_.resize(std::min(terms_.size(), kMaxTerms));
  }

  std::vector<Rung> build() {
    const auto preferences = preferences_by_weight();
    const Selectors* heaviest = preferences.empty() ? &kNothing : preferences.front();
    for (const Selectors* term : terms_) {
      add_rung(*term, *heaviest, false);
    }
    for (std::size_t dropped = 1; dropped <= preferences.size(); ++dropped) {
      add_rung(*terms_.back(), dropped < preferences.size() ? *preferences[dropped] : kNothing,
               false);
    }
    if (input_.has_soft_taints) {
      add_rung(*terms_.back(), kNothing, true);
    }
    for (const bool soft : {false, true}) {
      if (soft && !input_.has_soft_taints) {
        break;
      }
      for (std::size_t i = 0; i + 1 < terms_.size(); ++i) {
        add_rung(*terms_[i], kNothing, soft);
      }
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

  void add_rung(const Selectors& term, const Selectors& preference, bool soft) {
    Requirements requirements = base_;
    std::string conflict;
    if (!add_all(requirements, preference, conflict) || !add_all(requirements, term, conflict)) {
      conflict_ = conflict;
      return;
    }
    if (input_.volume_alternatives.empty()) {
      push(std::move(requirements), soft);
      return;
    }
    for (const Requirements& alternative : input_.volume_alternatives) {
      Requirements with_volumes = requirements;
      if (add_all(with_volumes, alternative, conflict)) {
        push(std::move(with_volumes), soft);
      } else {
        conflict_ = conflict;
      }
    }
  }

  void push(Requirements requirements, bool soft) {
    const bool tried = std::any_of(rungs_.begin(), rungs_.end(), [&](const Rung& rung) {
      return rung.tolerates_preferences == soft && rung.requirements == requirements;
    });
    if (!tried) {
      rungs_.push_back({0, std::move(requirements), soft});
    }
  }

  static inline const Selectors kNothing{};
  const LadderInput& input_;
  std::string& conflict_;
  Requirements base_;
  std::vector<const Selectors*> terms_;
  std::vector<Rung> rungs_;
};

}  // namespace

std::vector<Rung> relaxation_ladder(const LadderInput& input, std::string& conflict) {
  return Ladder(input, conflict).build();
}

}  // namespace millwright::scheduling
