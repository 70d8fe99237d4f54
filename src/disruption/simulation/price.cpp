#include "disruption/simulation/price.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millwright::disruption {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

double cheapest_price(const scheduling::InstanceType& type,
                      const scheduling::Requirements& requirements) {
  const auto* offering = scheduling::cheapest_offering(type, requirements);
  return offering == nullptr ? kInfinite : offering->price;
}

}  // namespace

double worst_launch_price(const scheduling::InstanceType& type,
                          const scheduling::Requirements& requirements) {
  for (const auto capacity_type : {model::kReserved, model::kSpot, model::kOnDemand}) {
    double worst = -1;
    for (const auto& offering : type.offerings) {
      if (offering.available && offering.capacity_type() == capacity_type &&
          requirements.compatible(offering.requirements, scheduling::AllowUndefined::WellKnown)) {
        worst = std::max(worst, offering.price);
      }
    }
    if (worst >= 0) {
      return worst;
    }
  }
  return kInfinite;
}

bool allows(const scheduling::Requirements& requirements, std::string_view capacity_type) {
  return requirements.get(model::kCapacityTypeLabel).has(capacity_type);
}

void pin_capacity_type(scheduling::PlannedClaim& claim, std::string_view capacity_type) {
  auto pinned =
      scheduling::Requirement::in(model::kCapacityTypeLabel, {std::string(capacity_type)});
  pinned.set_min_values(claim.requirements.get(model::kCapacityTypeLabel).min_values());
  claim.requirements.replace(std::move(pinned));
}

std::vector<const scheduling::InstanceType*> options_of(const scheduling::PlannedClaim& claim,
                                                        const scheduling::InstanceTypes& types) {
  const std::set<std::string_view> names(claim.instance_types.begin(), claim.instance_types.end());
  std::vector<const scheduling::InstanceType*> options;
  for (const auto& type : *types) {
    if (names.contains(type.name)) {
      options.push_back(&type);
    }
  }
  return options;
}

std::optional<std::size_t> types_needed(
    const scheduling::Requirements& requirements,
    const std::vector<const scheduling::InstanceType*>& ordered) {
  std::map<std::string_view, std::set<std::string_view>> seen;
  const auto satisfied = [&] {
    return std::all_of(requirements.begin(), requirements.end(), [&](const auto& requirement) {
      return !requirement.min_values() ||
             seen[requirement.key()].size() >= static_cast<std::size_t>(*requirement.min_values());
    });
  };
  if (satisfied()) {
    return 0;
  }
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    for (const auto& requirement : requirements) {
      const auto* values =
          requirement.min_values() ? ordered[i]->requirements.find(requirement.key()) : nullptr;
      if (values == nullptr || values->is_complement()) {
        continue;
      }
      std::copy_if(values->values().begin(), values->values().end(),
                   std::inserter(seen[requirement.key()], seen[requirement.key()].end()),
                   [&](const std::string& value) { return requirement.has(value); });
    }
    if (satisfied()) {
      return i + 1;
    }
  }
  return std::nullopt;
}

bool set_types(scheduling::PlannedClaim& claim, std::vector<const scheduling::InstanceType*> kept) {
  std::vector<std::pair<double, const scheduling::InstanceType*>> priced;
  for (const auto* type : kept) {
    priced.emplace_back(cheapest_price(*type, claim.requirements), type);
  }
  std::erase_if(priced, [](const auto& each) { return each.first == kInfinite; });
  std::sort(priced.begin(), priced.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second->name < b.second->name;
  });
  if (priced.empty()) {
    return false;
  }
  kept.clear();
  std::vector<std::string> listed;
  for (const auto& [_, type] : priced) {
    kept.push_back(type);
    listed.push_back(type->name);
  }
  claim.price = priced.front().first;
  auto names = scheduling::Requirement::in(model::kInstanceTypeLabel, listed);
  claim.instance_types = std::move(listed);
  names.set_min_values(claim.requirements.get(model::kInstanceTypeLabel).min_values());
  claim.requirements.replace(std::move(names));
  return types_needed(claim.requirements, kept).has_value();
}

}  // namespace millwright::disruption
