// Can anything the cloud sells meet the pool's requirements? Checked as the planner checks: keys
// that a type does not define do not count against it.
#include "millwright/model/labels.hpp"
#include "millwright/scheduling/instance_type.hpp"
#include "webhooks/src/nearest.hpp"
#include "webhooks/src/warnings.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace millwright::webhooks {
namespace {

using scheduling::InstanceType;
using scheduling::Requirement;
using scheduling::Requirements;

// A review may hold hundreds of thousands of requirements, labels and values, and the thread that
// answers it serves kube-scheduler, too. The CRD allows so many requirements.
constexpr std::size_t kMostLookedUp = 100;
constexpr std::size_t kMostTried = 10;  // values that may be misspelt

// Every value that the catalog offers, by key.
using Offered = std::map<std::string, Texts, std::less<>>;

void collect(const Requirements& requirements, Offered& offered) {
  for (const Requirement& requirement : requirements) {
    if (!requirement.is_complement() && !requirement.values().empty()) {
      offered[requirement.key()].insert(requirement.values().begin(), requirement.values().end());
    }
  }
}

Offered offered_by(const std::vector<InstanceType>& types) {
  Offered offered;
  for (const InstanceType& type : types) {
    collect(type.requirements, offered);
    for (const scheduling::Offering& offering : type.offerings) {
      collect(offering.requirements, offered);
    }
  }
  return offered;
}

// "a, b, c, d, e and 9 more"
std::string summary(const Texts& values) {
  constexpr std::size_t kShown = 5;
  std::string text;
  std::size_t shown = 0;
  for (const std::string& value : values) {
    if (shown == kShown) {
      return text + " and " + std::to_string(values.size() - kShown) + " more";
    }
    text += (text.empty() ? "" : ", ") + value;
    ++shown;
  }
  return text;
}

std::string quoted(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) {
    text += (text.empty() ? "\"" : ", \"") + value + "\"";
  }
  return text;
}

std::string suggestion(const model::SelectorRequirement& written, const Texts& candidates) {
  const bool names_values =
      written.op != model::Operator::NotIn && written.op != model::Operator::DoesNotExist;
  const std::size_t tried = std::min(written.values.size(), kMostTried);
  for (std::size_t i = 0; names_values && i < tried; ++i) {
    if (const std::string meant = nearest(written.values[i], candidates); !meant.empty()) {
      return "; the nearest is \"" + meant + "\"";
    }
  }
  return "; offered are " + summary(candidates);
}

class CatalogCheck {
 public:
  CatalogCheck(const std::vector<InstanceType>& types, Warnings& warnings)
      : types_(types), offered_(offered_by(types)), warnings_(warnings) {}

  void requirement(const std::string& where, const model::SelectorRequirement& written) {
    const std::string key(model::normalized_label_key(written.key));
    const auto found = offered_.find(key);
    if (found == offered_.end()) {
      misspelt_key(where, key);
      return;
    }
    const Requirement wanted(key, written.op, written.values, written.min_values);
    const Texts& values = found->second;
    const auto met = std::count_if(values.begin(), values.end(),
                                   [&](const std::string& value) { return wanted.has(value); });
    if (met == 0 && !met_by_absence(wanted)) {
      impossible_ = true;
      warnings_.add(where + ": no instance type offers " + wanted.to_string() +
                    suggestion(written, values));
      return;
    }
    unknown_values(where, key, written, values);
    if (written.min_values && met < *written.min_values) {
      impossible_ = true;
      warnings_.add(where + ": minValues " + std::to_string(*written.min_values) + " of " + key +
                    " cannot be reached; the instance types offer " + std::to_string(met));
    }
  }

  // Each requirement can be met alone; can they be met together?
  void all_together(const Requirements& wanted) {
    if (impossible_) {
      return;
    }
    const InstanceType* closest = nullptr;
    std::vector<std::string> fewest;
    for (const InstanceType& type : types_) {
      std::vector<std::string> failing = failing_keys(type, wanted);
      if (failing.empty()) {
        return;
      }
      if (closest == nullptr || failing.size() < fewest.size()) {
        closest = &type;
        fewest = std::move(failing);
      }
    }
    if (closest != nullptr) {
      warnings_.add(
          "spec.template.spec.requirements: no instance type meets all of them together; " +
          closest->name + " comes closest but for " + quoted(fewest));
    }
  }

 private:
  bool met_by_absence(const Requirement& wanted) const {
    return std::any_of(types_.begin(), types_.end(), [&](const InstanceType& type) {
      const Requirement* own = type.requirements.find(wanted.key());
      return own == nullptr || wanted.has_intersection(*own);
    });
  }

  void unknown_values(const std::string& where, const std::string& key,
                      const model::SelectorRequirement& written, const Texts& values) {
    if (written.op != model::Operator::In) {
      return;
    }
    std::vector<std::string> unknown;
    for (const std::string& value : written.values) {
      if (!values.contains(value)) {
        unknown.push_back(value);
      }
    }
    if (!unknown.empty() && unknown.size() < written.values.size()) {
      warnings_.add(where + ": no instance type offers " + key + " " + quoted(unknown) +
                    suggestion({key, written.op, unknown, std::nullopt}, values));
    }
  }

  // A key that no type defines becomes a label of the nodes' own, which is often meant. It hardly
  // is when the same domain has a key that differs by a letter or two.
  void misspelt_key(const std::string& where, const std::string& key) {
    constexpr std::size_t kSlips = 2;
    const std::string domain = key.substr(0, key.find('/') + 1);
    for (const auto& [known, values] : offered_) {
      if (!domain.empty() && known.starts_with(domain) && key.size() <= known.size() + kSlips &&
          edit_distance(known, key) <= kSlips) {
        warnings_.add(where + ": no instance type defines \"" + key + "\"; did you mean \"" +
                      known + "\"?");
        return;
      }
    }
  }

  static std::vector<std::string> failing_keys(const InstanceType& type,
                                               const Requirements& wanted) {
    std::vector<std::string> failing;
    for (const Requirement& requirement : wanted) {
      const Requirement* own = type.requirements.find(requirement.key());
      const bool absent_both =
          own != nullptr && own->admits_absence() && requirement.admits_absence();
      if (own != nullptr && !absent_both && !requirement.has_intersection(*own)) {
        failing.push_back(requirement.key());
      }
    }
    if (failing.empty() && !type.offerings.empty() && !has_offering(type, wanted)) {
      failing.emplace_back("zone and capacity type");
    }
    return failing;
  }

  static bool has_offering(const InstanceType& type, const Requirements& wanted) {
    return std::any_of(type.offerings.begin(), type.offerings.end(),
                       [&](const scheduling::Offering& offering) {
                         return wanted.intersects(offering.requirements);
                       });
  }

  const std::vector<InstanceType>& types_;
  Offered offered_;
  Warnings& warnings_;
  bool impossible_ = false;
};

}  // namespace

void warn_of_catalog(const model::NodePool& pool, const ClusterSnapshot& cluster,
                     Warnings& warnings) {
  if (!cluster.instance_types) {
    return;
  }
  const scheduling::InstanceTypes types = cluster.instance_types(pool.template_.node_class_ref);
  if (types == nullptr || types->empty()) {
    return;
  }
  const auto& requirements = pool.template_.requirements;
  const model::StringMap labels = pool.template_.labels.value_or(model::StringMap());
  if (requirements.size() > kMostLookedUp || labels.size() > kMostLookedUp) {
    return;
  }
  CatalogCheck check(*types, warnings);
  for (std::size_t i = 0; i < requirements.size(); ++i) {
    check.requirement("spec.template.spec.requirements[" + std::to_string(i) + "]",
                      requirements[i]);
  }
  for (const auto& [key, value] : labels) {
    check.requirement("spec.template.metadata.labels[" + key + "]",
                      {key, model::Operator::In, {value}, std::nullopt});
  }
  Requirements all{std::span<const model::SelectorRequirement>(requirements)};
  all.add(Requirements::from_labels(labels));
  check.all_together(all);
}

}  // namespace millwright::webhooks
