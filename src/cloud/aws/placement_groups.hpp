// The EC2 placement groups that classes select (spec.placementGroupSelector, Karpenter's placement
// group provider). As with Karpenter, what a selector stands for is kept in memory and not in the
// class's status: its CRD has no field for it, and a field that is pruned would let nodes start
// outside their group. Loop thread only.
#pragma once

#include "cloud/aws/api.hpp"
#include "cloud/aws/node_class_spec.hpp"

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

// What each selector stood for when it was last looked up.
class PlacementGroups {
 public:
  // nullopt: no such group. True when it is news.
  bool set(const PlacementSelector& selector, const std::optional<PlacementGroup>& group);
  // nullptr: nothing selected, not known yet, or no such group.
  const PlacementGroup* find(const PlacementSelector& selector) const;

 private:
  std::map<PlacementSelector, PlacementGroup> groups_;
};

// The available group that the selector names; nullopt when there is none. NotFound is EC2's way
// to say the same, with its words.
base::Task<ApiResult<std::optional<PlacementGroup>>> find_placement_group(
    Api& api, PlacementSelector selector);

}  // namespace millwright::cloud::aws
