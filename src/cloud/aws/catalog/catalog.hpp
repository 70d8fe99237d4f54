// The instance types of a region for one NodeClass: labels, capacity, overhead and offerings, from
// the last answers of the region's APIs. Makes no calls. Loop thread only.
#pragma once

#include "cloud/aws/calls/type_facts.hpp"
#include "cloud/aws/catalog/capacity.hpp"
#include "cloud/aws/catalog/reservation_counts.hpp"
#include "cloud/aws/node_class/node_class_spec.hpp"
#include "cloud/aws/node_class/placement_groups.hpp"
#include "cloud/common/catalog/learned_memory.hpp"
#include "cloud/common/catalog/prices.hpp"
#include "cloud/common/catalog/unavailable.hpp"
#include "millwright/scheduling/instance_type.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace millwright::cloud::aws {

class Catalog {
 public:
  Catalog(std::string region, CapacitySettings settings)
      : region_(std::move(region)), settings_(settings) {}

  // Empty answers are ignored: the last good ones are better.
  void set_types(std::vector<TypeFacts> types);
  void set_zones(ZonesByType zones);
  Prices& prices() { return prices_; }
  UnavailableOfferings& unavailable() { return unavailable_; }
  ReservationCounts& reservations() { return reservations_; }
  PlacementGroups& placements() { return placements_; }
  LearnedMemory& memory() { return memory_; }
  // What types() made before is out of date.
  void touch() { ++version_; }
  // Likewise, and calls back whoever called on_change().
  void changed();
  void on_change(std::function<void()> callback) { on_change_ = std::move(callback); }

  bool is_known() const { return !types_.empty() && !zones_.empty(); }
  const TypeFacts* find(std::string_view name) const;
  const CapacitySettings& settings() const { return settings_; }

  // Sorted by name. Cached until the catalog or the NodeClass changes.
  scheduling::InstanceTypes types(const model::NodeClass& node_class, base::TimePoint now);
  // The class is gone.
  void forget(const model::NodeClassReference& node_class) { cached_.erase(node_class); }

 private:
  scheduling::InstanceType make(const TypeFacts& facts, const NodeClassSpec& spec,
                                const NodeClassFindings& findings, base::TimePoint now) const;
  void reserve(scheduling::Offering& offering, const CapacityReservation& reservation) const;
  void place(scheduling::InstanceType& type, const TypeFacts& facts,
             const PlacementSelector& selector, base::TimePoint now) const;

  std::string region_;
  CapacitySettings settings_;
  std::vector<TypeFacts> types_;  // sorted by name
  ZonesByType zones_;
  Prices prices_;
  UnavailableOfferings unavailable_;
  ReservationCounts reservations_;
  PlacementGroups placements_;
  LearnedMemory memory_;
  std::function<void()> on_change_;
  std::uint64_t version_ = 0;
  struct CachedTypes {
    std::string made_from;  // the NodeClass, and the version here
    scheduling::InstanceTypes types;
  };
  std::map<model::NodeClassReference, CachedTypes> cached_;
};

}  // namespace millwright::cloud::aws
