// Chooses the instance types, zones and capacity type that a NodeClaim is launched with, by
// Karpenter's filters in their order (pkg/providers/instance). Pure.
#pragma once

#include "cloud/aws/node_class/node_class_spec.hpp"
#include "cloud/aws/node_class/placement_groups.hpp"
#include "millwright/base/result.hpp"
#include "millwright/model/karpenter.hpp"
#include "millwright/scheduling/instance_type.hpp"

#include <functional>
#include <string>
#include <vector>

namespace millwright::cloud::aws {

inline constexpr std::size_t kMaxLaunchTypes = 60;

struct LaunchOption {
  std::string type;
  std::string zone;
  std::string subnet;
  double price = 0;
};

// Options that one launch template can serve.
struct LaunchGroup {
  std::string image_id;
  std::int64_t max_pods = 0;
  std::int64_t efa_interfaces = 0;
  std::string reservation_id = {};    // of the capacity reservation that it launches into
  std::vector<LaunchOption> options;  // by price
};

struct LaunchPlan {
  std::string capacity_type;
  bool dedicated = false;             // tenancy
  std::string reservation_kind = {};  // "default", "capacity-block"; of a reserved plan
  bool interruptible = false;         // its reservations are interruptible
  // A launch that is not meant for a reservation must not use up an open one (the gate
  // ReservedCapacity is on).
  bool spares_reservations = true;
  std::string placement_group = {};  // id of the one that it launches into
  int partition = 0;                 // of the placement group; 0: it has none or EC2 chooses
  bool leaves_partition = false;     // EC2 chooses the partition
  std::vector<LaunchGroup> groups;
};

struct LaunchContext {
  const std::vector<scheduling::InstanceType>& types;
  const NodeClassFindings& findings;
  std::function<std::int64_t(std::string_view subnet)> free_addresses;
  const PlacementGroup* placement = nullptr;  // of the class; outlives the call
};

// NoCapacity when no available offering meets the claim; the message says what the claim asks.
base::Result<LaunchPlan> plan_launch(const model::NodeClaim& claim, const LaunchContext& context);

}  // namespace millwright::cloud::aws
