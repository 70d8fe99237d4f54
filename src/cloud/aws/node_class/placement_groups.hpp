// The EC2 placement groups that classes select (spec.placementGroupSelector, Karpenter's placement
// group provider). What a selector stands for is kept in memory, as with Karpenter, and not in the
// class's status: the CRD has no field for it, so that the API server would drop it and nodes would
// start outside their group. Loop thread only.
#pragma once

#include "cloud/aws/calls/api.hpp"
#include "cloud/aws/node_class/node_class_spec.hpp"
#include "millwright/cloud/provider.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace millwright::cloud::aws {

inline constexpr std::string_view kPlacementGroupLabel = "karpenter.k8s.aws/placement-group-id";
inline constexpr std::string_view kPartitionLabel = "karpenter.k8s.aws/placement-group-partition";

struct PlacementGroup {
  std::string id;
  std::string name;
  std::string strategy;  // "cluster", "partition", "spread"
  int partitions = 0;    // of the partition strategy, numbered from 1
  friend bool operator==(const PlacementGroup&, const PlacementGroup&) = default;
};

// The group that each selector named when it was last looked up.
class PlacementGroups {
 public:
  // nullopt: no such group. True when that changed something.
  bool set(const PlacementSelector& selector, const std::optional<PlacementGroup>& group);
  // nullptr: no selector, not looked up yet, or no such group.
  const PlacementGroup* find(const PlacementSelector& selector) const;

 private:
  std::map<PlacementSelector, PlacementGroup> groups_;
};

// The available group that the selector names; nullopt when there is none. NotFound
// means the same and comes with EC2's words.
base::Task<ApiResult<std::optional<PlacementGroup>>> find_placement_group(
    Api& api, PlacementSelector selector);

// Looks up the selectors of classes, and remembers their groups while EC2 does not answer.
class PlacementLookups {
 public:
  explicit PlacementLookups(Api& api) : api_(api) {}

  // The condition PlacementGroupReady. nullopt: the class has no selector and never had one.
  base::Task<ApiResult<std::optional<NodeClassCondition>>> resolve(NodeClassPtr node_class);
  // Stores what was found. True when that changed something.
  bool publish(PlacementGroups& groups) const;

 private:
  struct Found {
    std::optional<PlacementGroup> group;
    base::TimePoint until{};  // how long it counts while EC2 does not answer
  };
  Api& api_;
  std::map<PlacementSelector, Found> found_;
};

}  // namespace millwright::cloud::aws
