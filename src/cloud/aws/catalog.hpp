// The instance types of a region for one NodeClass: labels, capacity, overhead and offerings, from
// what the region's APIs said last. Pure: it holds answers and calls nobody. Loop thread only.
#pragma once

#include "cloud/aws/capacity.hpp"
#include "cloud/aws/node_class_spec.hpp"
#include "cloud/aws/placement_groups.hpp"
#include "cloud/aws/prices.hpp"
#include "cloud/aws/reservation_ledger.hpp"
#include "cloud/aws/type_facts.hpp"
#include "cloud/aws/unavailable.hpp"
#include "millwright/scheduling/instance_type.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace millwright::cloud::aws {

// instance type -> zones that sell it
using ZonesByType = std::map<std::string, std::set<std::string, std::less<>>, std::less<>>;

class Catalog {
 public:
  Catalog(std::string region, CapacitySettings settings)
      : region_(std::move(region)), settings_(settings) {}

  // Empty answers are ignored, as the last good ones are better.
  void set_types(std::vector<TypeFacts> types);
  void set_zones(ZonesByType zones);
  Prices& prices() { return prices_; }
  UnavailableOfferings& unavailable() { return unavailable_; }
  ReservationLedger& reservations() { return reservations_; }
  PlacementGroups& placements() { return placements_; }
  // Prices or marks changed: what types() made before is stale.
  void touch() { ++version_; }

  bool is_known() const { return !types_.empty() && !zones_.empty(); }
  const TypeFacts* find(std::string_view name) const;
  const CapacitySettings& settings() const { return settings_; }

  // Sorted by name. Kept until something changes here or in the NodeClass.
  scheduling::InstanceTypes types(const model::NodeClass& node_class, base::TimePoint now);

 private:
  scheduling::InstanceType make(const TypeFacts& facts, const NodeClassSpec& spec,
                                const NodeClassFindings& findings, base::TimePoint now) const;
  void place(scheduling::InstanceType& type, const TypeFacts& facts,
             const PlacementSelector& selector, base::TimePoint now) const;

  std::string region_;
  CapacitySettings settings_;
  std::vector<TypeFacts> types_;  // sorted by name
  ZonesByType zones_;
  Prices prices_;
  UnavailableOfferings unavailable_;
  ReservationLedger reservations_;
  PlacementGroups placements_;
  std::uint64_t version_ = 0;
  struct Made {
    std::string of;  // the NodeClass, and the version here
    scheduling::InstanceTypes types;
  };
  std::map<std::string, Made, std::less<>> made_;  // by NodeClass name
};

}  // namespace millwright::cloud::aws
