#include "cloud/common/catalog/unavailable.hpp"

#include <algorithm>

namespace millwright::cloud {
namespace {

// Karpenter's key: capacityType:type:zone[:placement group[:partition]]. A NodeClass, which
// Karpenter's marks never have, follows "@".
std::string key_of(std::string_view type, std::string_view zone, std::string_view capacity_type,
                   const MarkScope& scope) {
  std::string key(capacity_type);
  key.append(":").append(type).append(":").append(zone);
  if (!scope.placement_group.empty()) {
    key.append(":").append(scope.placement_group);
    if (scope.partition > 0) {
      key.append(":").append(std::to_string(scope.partition));
    }
  }
  if (!scope.node_class.empty()) {
    key.append("@").append(scope.node_class);
  }
  return key;
}

}  // namespace

void UnavailableOfferings::mark(std::string_view type, std::string_view zone,
                                std::string_view capacity_type, base::TimePoint now,
                                const MarkScope& scope) {
  until_[key_of(type, zone, capacity_type, scope)] = now + ttl_;
}

bool UnavailableOfferings::is_marked(std::string_view type, std::string_view zone,
                                     std::string_view capacity_type, base::TimePoint now,
                                     const MarkScope& scope) const {
  if (until_.empty()) {
    return false;
  }
  const auto marked = [&](const MarkScope& in) {
    const auto at = [&](std::string_view t, std::string_view z) {
      const auto found = until_.find(key_of(t, z, capacity_type, in));
      return found != until_.end() && now < found->second;
    };
    return at(type, zone) || at("", zone) || at(type, "") || at("", "");
  };
  const MarkScope group{.placement_group = scope.placement_group};
  const MarkScope node_class{.node_class = scope.node_class};
  return marked(MarkScope()) || (!node_class.node_class.empty() && marked(node_class)) ||
         (!group.placement_group.empty() && marked(group)) ||
         (scope.partition > 0 &&
          marked({.placement_group = scope.placement_group, .partition = scope.partition}));
}

bool UnavailableOfferings::set_shifted(std::map<std::string, base::TimePoint, std::less<>> zones) {
  const bool news = zones != shifted_until_;
  shifted_until_ = std::move(zones);
  return news;
}

bool UnavailableOfferings::is_shifted(std::string_view zone_id, base::TimePoint now) const {
  const auto found = shifted_until_.find(zone_id);
  return found != shifted_until_.end() && now < found->second;
}

bool UnavailableOfferings::sweep(base::TimePoint now) {
  const auto is_over = [now](const auto& mark) { return mark.second <= now; };
  return std::erase_if(until_, is_over) + std::erase_if(shifted_until_, is_over) > 0;
}

std::optional<base::TimePoint> UnavailableOfferings::next_end() const {
  std::optional<base::TimePoint> first;
  for (const auto* marks : {&until_, &shifted_until_}) {
    for (const auto& [what, end] : *marks) {
      first = first ? std::min(*first, end) : end;
    }
  }
  return first;
}

}  // namespace millwright::cloud
