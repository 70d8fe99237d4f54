// What a cloud sells: instance types with offerings (zone, capacity type, price). A catalog is
// immutable and shared; providers make a new one when prices or availability change.
#pragma once

#include "millwright/model/resources.hpp"
#include "millwright/scheduling/requirements.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::scheduling {

struct Offering {
  Requirements requirements;  // must pin topology.kubernetes.io/zone and karpenter.sh/capacity-type
  double price = 0;           // currency units per hour; 0 and not available: not known
  bool available = true;
  int reservation_capacity = 0;  // reserved offerings: instances left
  std::optional<model::ResourceList> capacity_override;
  std::optional<model::ResourceList> overhead_override;

  // The pinned value, empty when the offering does not pin the key.
  std::string_view zone() const;
  std::string_view capacity_type() const;
};

// Volumes by CSI driver.
using VolumeCounts = std::map<std::string, std::int32_t, std::less<>>;

struct InstanceType {
  std::string name;
  Requirements requirements;  // defines every well-known label
  std::vector<Offering> offerings;
  model::ResourceList capacity;
  model::ResourceList overhead;  // kube-reserved + system-reserved + eviction threshold
  // How many volumes a node can attach, as the cloud tells. A driver without an entry has no limit.
  VolumeCounts volume_limits{};

  // capacity - overhead, less hugepages from memory, never below zero.
  model::ResourceList allocatable() const;
};

// The same for any capacity, as an offering may override it.
model::ResourceList allocatable_of(const model::ResourceList& capacity,
                                   const model::ResourceList& overhead);

using InstanceTypes = std::shared_ptr<const std::vector<InstanceType>>;

// Cheapest available offering compatible with `requirements`; nullptr when there is none.
const Offering* cheapest_offering(const InstanceType& type, const Requirements& requirements);
const InstanceType* find_type(const InstanceTypes& types, std::string_view name);
// The price of a running node by its labels (type, zone, capacity type); availability is ignored.
std::optional<double> price_of(const InstanceTypes& types, const model::StringMap& node_labels);

}  // namespace millwright::scheduling
