#include "cloud/aws/node_class/placement_groups.hpp"

#include "cloud/aws/calls/ec2.hpp"

#include <algorithm>

namespace millwright::cloud::aws {
namespace {

using base::ErrorKind;

constexpr std::string_view kPlacementReady = "PlacementGroupReady";
// How long a group counts as found while EC2 does not answer; as in Karpenter.
constexpr base::Duration kGroupKept = std::chrono::hours(24);
// EC2 has seven per zone. A much larger number is a mistake.
constexpr std::int64_t kMaxPartitions = 100;

PlacementGroup read_group(const XmlNode& item) {
  PlacementGroup group;
  group.id = item.text_of("groupId");
  group.name = item.text_of("groupName");
  group.strategy = item.text_of("strategy");
  if (group.strategy == "partition") {
    const auto count = item.integer_of("partitionCount").value_or(0);
    group.partitions = static_cast<int>(std::clamp<std::int64_t>(count, 0, kMaxPartitions));
  }
  return group;
}

NodeClassCondition not_ready(std::string reason, std::string message) {
  NodeClassCondition condition;
  condition.type = kPlacementReady;
  condition.reason = std::move(reason);
  condition.message = std::move(message);
  return condition;
}

std::string field_text(const PlacementSelector& selector) {
  return "spec.placementGroupSelector " + selector.to_string();
}

// EC2 did not say anything about the group; asking again may help.
bool is_temporary(ErrorKind kind) {
  return kind == ErrorKind::Throttled || kind == ErrorKind::Unavailable ||
         kind == ErrorKind::Timeout;
}

}  // namespace

bool PlacementGroups::set(const PlacementSelector& selector,
                          const std::optional<PlacementGroup>& group) {
  if (!group) {
    return groups_.erase(selector) > 0;
  }
  const auto [found, added] = groups_.try_emplace(selector, *group);
  const bool changed = added || found->second != *group;
  found->second = *group;
  return changed;
}

const PlacementGroup* PlacementGroups::find(const PlacementSelector& selector) const {
  const auto found = groups_.find(selector);
  return found == groups_.end() ? nullptr : &found->second;
}

base::Task<ApiResult<std::optional<PlacementGroup>>> find_placement_group(
    Api& api, PlacementSelector selector) {
  Form form("DescribePlacementGroups", kEc2Version);
  const std::vector<std::string> available(1, "available");
  form.add_filter("state", available);
  if (!selector.id.empty()) {
    form.add("GroupId.1", selector.id);
  } else {
    form.add("GroupName.1", selector.name);
  }
  MW_CO_TRY(root, co_await api.query(Service::Ec2, std::move(form)));
  std::optional<PlacementGroup> found;
  for (const auto& item : root.items("placementGroupSet")) {
    auto group = read_group(item);
    if (!found && !group.id.empty()) {
      found = std::move(group);
    }
  }
  co_return found;
}

base::Task<ApiResult<std::optional<NodeClassCondition>>> PlacementLookups::resolve(
    NodeClassPtr node_class) {
  NodeClassCondition good;
  good.type = kPlacementReady;
  good.good = true;
  std::optional<NodeClassCondition> condition;
  const auto selector = read_spec(*node_class).placement;
  if (!selector.is_given()) {
    // The condition of an earlier selector must not go on saying that something is wrong.
    if (model::find_condition(node_class->conditions, kPlacementReady) != nullptr) {
      condition = std::move(good);
    }
    co_return condition;
  }
  const auto now = api_.loop().now();
  auto& found = found_[selector];
  auto answered = co_await find_placement_group(api_, selector);
  if (!answered && is_temporary(answered.error().kind)) {
    if (now >= found.until) {
      co_return tl::unexpected(std::move(answered).error());
    }
    condition = std::move(good);
    co_return condition;
  }
  found.group = answered ? *answered : std::nullopt;
  found.until = now + (found.group ? kGroupKept : base::Duration::zero());
  if (found.group) {
    condition = std::move(good);
  } else if (answered || answered.error().kind == ErrorKind::NotFound) {
    condition = not_ready("PlacementGroupNotFound",
                          field_text(selector) +
                              " selects no available placement group; check it and "
                              "the region" +
                              (answered ? "" : ": " + answered.error().message));
  } else {
    condition = not_ready("PlacementGroupResolutionFailed",
                          field_text(selector) + ": " + answered.error().message);
  }
  co_return condition;
}

bool PlacementLookups::publish(PlacementGroups& groups) const {
  bool changed = false;
  for (const auto& [selector, found] : found_) {
    changed = groups.set(selector, found.group) || changed;
  }
  return changed;
}

}  // namespace millwright::cloud::aws
