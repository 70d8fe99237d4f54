// Dynamic resource allocation (resource.k8s.io/v1, KEP-4381), as far as a planner needs it: which
// devices nodes have, which of them are taken, and what pods ask for.
#pragma once

#include "millwright/model/meta.hpp"
#include "millwright/model/quantity.hpp"
#include "millwright/model/selector.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace millwright::model {

// A semantic version ("2.1.0") as text.
struct DeviceVersion {
  std::string text;
  friend bool operator==(const DeviceVersion&, const DeviceVersion&) = default;
};
using DeviceAttribute = std::variant<bool, std::int64_t, std::string, DeviceVersion>;

struct Device {
  std::string name;
  // By qualified name, "domain/name"; the domain is the driver's where the key has none.
  std::map<std::string, DeviceAttribute, std::less<>> attributes;
  std::map<std::string, Quantity, std::less<>> capacity;
  // A part of a larger one: it takes from counters that other devices take from too.
  bool consumes_counters = false;
  bool multiple_allocations = false;  // several claims may share it
  bool tainted = false;               // by a taint that keeps claims away
  bool chooses_nodes = false;         // the slice leaves it to each device which nodes reach it
  friend bool operator==(const Device&, const Device&) = default;
};

// What a driver has to offer. A pool is complete when all slices of its newest generation are
// there.
struct ResourceSlice {
  ObjectMeta meta;
  std::string driver;
  std::string pool;
  std::int64_t generation = 0;
  std::int64_t slices_in_pool = 0;
  std::string node_name;  // empty: devices that several nodes reach
  std::vector<Device> devices;
  friend bool operator==(const ResourceSlice&, const ResourceSlice&) = default;
};

struct DeviceClass {
  ObjectMeta meta;
  std::vector<std::string> selectors;  // CEL; a device must match all of them
  friend bool operator==(const DeviceClass&, const DeviceClass&) = default;
};

// One request of a claim, or one of the alternatives of such a request.
struct DeviceRequest {
  std::string name;
  std::string class_name;
  std::vector<std::string> selectors;  // CEL, besides those of the class
  std::string allocation_mode = "ExactCount";
  std::int64_t count = 1;
  bool admin_access = false;
  bool asks_capacity = false;  // for a part of a device that several claims may share
  std::vector<DeviceRequest> first_available;  // the first that can be had; the rest is empty then
  friend bool operator==(const DeviceRequest&, const DeviceRequest&) = default;
};

struct ResourceClaimSpec {
  std::vector<DeviceRequest> requests;
  bool constrained = false;  // its devices must match each other
  friend bool operator==(const ResourceClaimSpec&, const ResourceClaimSpec&) = default;
};

struct AllocatedDevice {
  std::string driver;
  std::string pool;
  std::string device;
  bool admin_access = false;  // takes nothing from others
  friend bool operator==(const AllocatedDevice&, const AllocatedDevice&) = default;
};

struct ResourceClaim {
  ObjectMeta meta;
  ResourceClaimSpec spec;
  bool allocated = false;
  std::vector<AllocatedDevice> devices;
  std::vector<NodeSelectorTerm> node_terms;  // where the devices can be used; none: everywhere
  std::vector<std::string> reserved_for;     // uids of those who use it: pods, as a rule
  friend bool operator==(const ResourceClaim&, const ResourceClaim&) = default;
};

struct ResourceClaimTemplate {
  ObjectMeta meta;
  ResourceClaimSpec spec;
  friend bool operator==(const ResourceClaimTemplate&, const ResourceClaimTemplate&) = default;
};

// Devices that a driver will offer on nodes whose labels match any of the terms, once there are
// such nodes: one pool of a DRAConfig, the kind that Karpenter's kwok driver for tests reads.
struct DeviceTemplate {
  std::string driver;
  std::vector<NodeSelectorTerm> node_terms;
  std::vector<Device> devices;
  friend bool operator==(const DeviceTemplate&, const DeviceTemplate&) = default;
};

// On NodeClaims: the drivers whose devices its pods asked for, sorted, with commas between them.
inline constexpr std::string_view kRequestedDriversAnnotation =
    "karpenter.sh/requested-dra-drivers";

}  // namespace millwright::model
