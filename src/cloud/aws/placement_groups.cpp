#include "cloud/aws/placement_groups.hpp"

#include "cloud/aws/ec2.hpp"
#include "cloud/aws/resolver.hpp"

#include <algorithm>

namespace millwright::cloud::aws {
namespace {

using base::ErrorKind;

constexpr std::string_view kReady = "PlacementGroupReady";
// How long a group that was found stands while EC2 does not answer, as Karpenter's.
constexpr base::Duration kGroupKept = std::chrono::hours(24);
// EC2 has seven per zone; a number out of any reason is not believed.
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
  condition.type = kReady;
  condition.reason = std::move(reason);
  condition.message = std::move(message);
  return condition;
}

std::string told(const PlacementSelector& selector) {
  return "spec.placementGroupSelector " + selector.to_string();
}

// Asking again may help, and nothing is known that was not known before.
bool is_passing(ErrorKind kind) {
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
  const bool news = added || found->second != *group;
  found->second = *group;
  return news;
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
  auto answered = co_await api.query(Service::Ec2, std::move(form));
  MW_CO_TRY(root, std::move(answered));
  std::optional<PlacementGroup> found;
  for (const auto& item : root.items("placementGroupSet")) {
    auto group = read_group(item);
    if (!found && !group.id.empty()) {
      found = std::move(group);
    }
  }
  co_return found;
}

base::Task<ApiResult<std::optional<NodeClassCondition>>> Resolver::resolve_placement(
    std::shared_ptr<const model::NodeClass> node_class) {
  NodeClassCondition good;
  good.type = kReady;
  good.good = true;
  std::optional<NodeClassCondition> condition;
  const auto selector = read_spec(*node_class).placement;
  if (!selector.is_given()) {
    // What an earlier selector left behind is to say nothing bad any more.
    if (model::find_condition(node_class->conditions, kReady) != nullptr) {
      condition = std::move(good);
    }
    co_return condition;
  }
  const auto now = api_.loop().now();
  auto& placement = placements_[selector];
  auto answered = co_await find_placement_group(api_, selector);
  if (!answered && is_passing(answered.error().kind)) {
    if (now >= placement.until) {
      co_return tl::unexpected(std::move(answered).error());
    }
    condition = std::move(good);
    co_return condition;
  }
  placement.group = answered ? *answered : std::nullopt;
  placement.until = now + (placement.group ? kGroupKept : base::Duration::zero());
  if (placement.group) {
    condition = std::move(good);
  } else if (answered || answered.error().kind == ErrorKind::NotFound) {
    condition = not_ready("PlacementGroupNotFound",
                          told(selector) +
                              " selects no available placement group; check it and "
                              "the region" +
                              (answered ? "" : ": " + answered.error().message));
  } else {
    condition = not_ready("PlacementGroupResolutionFailed",
                          told(selector) + ": " + answered.error().message);
  }
  co_return condition;
}

bool Resolver::tell_placements(PlacementGroups& groups) const {
  bool news = false;
  for (const auto& [selector, placement] : placements_) {
    news = groups.set(selector, placement.group) || news;
  }
  return news;
}

}  // namespace millwright::cloud::aws
