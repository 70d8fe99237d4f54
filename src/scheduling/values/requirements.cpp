// Sets of requirements: Karpenter's scheduling.Requirements with Compatible and Intersects.
#include "millwright/scheduling/requirements.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace millwright::scheduling {
namespace {

using model::Operator;

bool meet(const Requirement& a, const Requirement& b) {
  return a.has_intersection(b) || (a.admits_absence() && b.admits_absence());
}

std::string_view after_slash(std::string_view key) {
  const auto slash = key.rfind('/');
  return slash == std::string_view::npos ? key : key.substr(slash + 1);
}

// One insertion, deletion or replacement, or two neighbours swapped.
bool nearly_equal(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) {
    std::swap(a, b);
  }
  if (b.size() - a.size() > 1) {
    return false;
  }
  std::size_t i = 0;
  while (i < a.size() && a[i] == b[i]) {
    ++i;
  }
  if (a.size() != b.size()) {
    return a.substr(i) == b.substr(i + 1);
  }
  if (i == a.size() || a.substr(i + 1) == b.substr(i + 1)) {
    return true;
  }
  return i + 1 < a.size() && a[i] == b[i + 1] && a[i + 1] == b[i] &&
         a.substr(i + 2) == b.substr(i + 2);
}

bool looks_like(std::string_view wrong, std::string_view known) {
  return known.find(wrong) != std::string_view::npos || after_slash(wrong) == after_slash(known) ||
         nearly_equal(wrong, known);
}

// " (did you mean ...?)" or nothing.
std::string typo_hint(std::string_view key, const Requirements& known, AllowUndefined allow) {
  static constexpr std::array<std::string_view, 8> kWellKnown = {
      model::kZoneLabel,     model::kRegionLabel,      model::kInstanceTypeLabel,
      model::kArchLabel,     model::kOsLabel,          model::kCapacityTypeLabel,
      model::kNodePoolLabel, model::kWindowsBuildLabel};
  const auto hint = [](std::string_view name) {
    return std::string(" (did you mean \"").append(name).append("\"?)");
  };
  if (key.empty()) {
    return {};
  }
  if (allow == AllowUndefined::WellKnown) {
    for (const auto name : kWellKnown) {
      if (looks_like(key, name)) {
        return hint(name);
      }
    }
  }
  for (const Requirement& requirement : known) {
    if (looks_like(key, requirement.key())) {
      return hint(requirement.key());
    }
  }
  return {};
}

bool may_be_undefined(const Requirement& wanted, AllowUndefined allow) {
  return wanted.admits_absence() ||
         (allow == AllowUndefined::WellKnown && model::is_well_known_label(wanted.key()));
}

struct ByKey {
  bool operator()(const Requirement& r, std::string_view key) const { return r.key() < key; }
};

}  // namespace

Requirements::Requirements(std::span<const model::SelectorRequirement> selectors) {
  for (const auto& selector : selectors) {
    add(Requirement(selector.key, selector.op, selector.values, selector.min_values));
  }
}

Requirements Requirements::from_labels(const model::StringMap& labels) {
  Requirements result;
  result.items_.reserve(labels.size());
  for (const auto& [key, value] : labels) {
    result.add(Requirement::in(key, {value}));
  }
  return result;
}

void Requirements::add(Requirement requirement) {
  const auto at = std::lower_bound(items_.begin(), items_.end(), requirement.key(), ByKey{});
  if (at != items_.end() && at->key() == requirement.key()) {
    *at = at->intersection(requirement);
  } else {
    items_.insert(at, std::move(requirement));
  }
}

void Requirements::add(const Requirements& others) {
  for (const Requirement& requirement : others) {
    add(requirement);
  }
}

void Requirements::replace(Requirement requirement) {
  const auto at = std::lower_bound(items_.begin(), items_.end(), requirement.key(), ByKey{});
  if (at != items_.end() && at->key() == requirement.key()) {
    *at = std::move(requirement);
  } else {
    items_.insert(at, std::move(requirement));
  }
}

void Requirements::remove(std::string_view key) {
  std::erase_if(items_, [&](const Requirement& r) { return r.key() == key; });
}

const Requirement* Requirements::find(std::string_view key) const {
  const auto at = std::lower_bound(items_.begin(), items_.end(), key, ByKey{});
  return at != items_.end() && at->key() == key ? &*at : nullptr;
}

Requirement Requirements::get(std::string_view key) const {
  const Requirement* found = find(model::normalized_label_key(key));
  return found != nullptr ? *found : Requirement(key, Operator::Exists);
}

bool Requirements::has_min_values() const {
  return std::any_of(items_.begin(), items_.end(),
                     [](const Requirement& r) { return r.min_values().has_value(); });
}

std::string Requirements::incompatibility(const Requirements& wanted, AllowUndefined allow) const {
  for (const Requirement& want : wanted) {
    const Requirement* mine = find(want.key());
    if (mine == nullptr) {
      if (!may_be_undefined(want, allow)) {
        return "label \"" + want.key() + "\" has no known values" +
               typo_hint(want.key(), *this, allow);
      }
    } else if (!meet(*mine, want)) {
      return "wanted " + want.to_string() + ", offered " + mine->to_string();
    }
  }
  return {};
}

bool Requirements::compatible(const Requirements& wanted, AllowUndefined allow) const {
  return std::all_of(wanted.begin(), wanted.end(), [&](const Requirement& want) {
    const Requirement* mine = find(want.key());
    return mine == nullptr ? may_be_undefined(want, allow) : meet(*mine, want);
  });
}

bool Requirements::intersects(const Requirements& other) const {
  return std::all_of(other.begin(), other.end(), [&](const Requirement& theirs) {
    const Requirement* mine = find(theirs.key());
    return mine == nullptr || meet(*mine, theirs);
  });
}

std::vector<model::SelectorRequirement> Requirements::to_selectors() const {
  std::vector<model::SelectorRequirement> selectors;
  for (const Requirement& requirement : items_) {
    for (auto& item : requirement.to_selectors()) {
      selectors.push_back(std::move(item));
    }
  }
  return selectors;
}

std::string Requirements::to_string() const {
  std::string text;
  for (const Requirement& requirement : items_) {
    if (requirement.key() == model::kHostnameLabel) {
      continue;
    }
    text.append(text.empty() ? "" : ", ").append(requirement.to_string());
  }
  return text;
}

namespace {

Requirements selected_by(const model::PodSpec& spec, bool with_preference) {
  Requirements result = Requirements::from_labels(spec.node_selector);
  const auto& preferred = spec.affinity.preferred_node_terms;
  if (with_preference && !preferred.empty()) {
    const auto heaviest =
        std::max_element(preferred.begin(), preferred.end(),
                         [](const auto& a, const auto& b) { return a.weight < b.weight; });
    result.add(Requirements(heaviest->term.match_expressions));
  }
  if (!spec.affinity.required_node_terms.empty()) {
    result.add(Requirements(spec.affinity.required_node_terms.front().match_expressions));
  }
  return result;
}

}  // namespace

Requirements pod_requirements(const model::PodSpec& spec) {
  return selected_by(spec, true);
}
Requirements strict_pod_requirements(const model::PodSpec& spec) {
  return selected_by(spec, false);
}

}  // namespace millwright::scheduling
