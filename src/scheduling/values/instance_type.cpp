// Instance types and offerings: what is left for pods, and what it costs.
#include "millwright/scheduling/instance_type.hpp"

#include <algorithm>

namespace millwright::scheduling {
namespace {

std::string_view pinned(const Requirements& requirements, std::string_view key) {
  const Requirement* found = requirements.find(key);
  if (found == nullptr || found->is_complement() || found->values().size() != 1) {
    return {};
  }
  return found->values().front();
}

std::string_view value_or_empty(const model::StringMap& labels, std::string_view key) {
  const auto found = labels.find(key);
  return found == labels.end() ? std::string_view{} : std::string_view(found->second);
}

}  // namespace

std::string_view Offering::zone() const {
  return pinned(requirements, model::kZoneLabel);
}
std::string_view Offering::capacity_type() const {
  return pinned(requirements, model::kCapacityTypeLabel);
}

model::ResourceList InstanceType::allocatable() const {
  return allocatable_of(capacity, overhead);
}

model::ResourceList allocatable_of(const model::ResourceList& capacity,
                                   const model::ResourceList& overhead) {
  model::ResourceList result = capacity;
  for (auto& [name, quantity] : result) {
    if (const auto taken = overhead.find(name); taken != overhead.end()) {
      quantity -= taken->second;
    }
  }
  // Huge pages are carved out of memory, so what they take is no longer there as memory.
  model::Quantity huge;
  for (const auto& [name, quantity] : capacity) {
    if (name.starts_with("hugepages-")) {
      huge += quantity;
    }
  }
  if (const auto memory = result.find(model::kMemory); memory != result.end()) {
    memory->second -= huge;
  }
  for (auto& [name, quantity] : result) {
    quantity = std::max(quantity, model::Quantity{});
  }
  return result;
}

const Offering* cheapest_offering(const InstanceType& type, const Requirements& requirements) {
  const Offering* best = nullptr;
  for (const Offering& offering : type.offerings) {
    if (offering.available && (best == nullptr || offering.price < best->price) &&
        requirements.compatible(offering.requirements, AllowUndefined::WellKnown)) {
      best = &offering;
    }
  }
  return best;
}

const InstanceType* find_type(const InstanceTypes& types, std::string_view name) {
  if (!types) {
    return nullptr;
  }
  const auto found = std::find_if(types->begin(), types->end(),
                                  [&](const InstanceType& type) { return type.name == name; });
  return found == types->end() ? nullptr : &*found;
}

std::optional<double> price_of(const InstanceTypes& types, const model::StringMap& node_labels) {
  const InstanceType* type =
      find_type(types, value_or_empty(node_labels, model::kInstanceTypeLabel));
  if (type == nullptr) {
    return std::nullopt;
  }
  const auto zone = value_or_empty(node_labels, model::kZoneLabel);
  const auto capacity_type = value_or_empty(node_labels, model::kCapacityTypeLabel);
  // Several reservations may share zone and capacity type; the node's labels tell them apart.
  const Offering* match = nullptr;
  const Requirements labels = Requirements::from_labels(node_labels);
  for (const Offering& offering : type->offerings) {
    if (offering.zone() != zone || offering.capacity_type() != capacity_type) {
      continue;
    }
    if (match == nullptr ||
        (offering.requirements.intersects(labels) && !match->requirements.intersects(labels))) {
      match = &offering;
    }
  }
  const bool known = match != nullptr && (match->available || match->price > 0);
  return known ? std::optional<double>(match->price) : std::nullopt;
}

}  // namespace millwright::scheduling
