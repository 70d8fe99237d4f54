// ResourceQuota: how much the pods of a namespace may request in all, and how much they do.
#pragma once

#include "millwright/model/meta.hpp"
#include "millwright/model/resources.hpp"

#include <cstdint>
#include <limits>

namespace millwright::model {

struct ResourceQuota {
  ObjectMeta meta;  // without labels, annotations and owners
  // status: what is enforced now, by the names that quotas use ("requests.cpu", "count/pods")
  ResourceList hard;
  ResourceList used;
  bool scoped = false;  // it counts only some of the namespace's pods
  friend bool operator==(const ResourceQuota&, const ResourceQuota&) = default;
};

inline constexpr std::int64_t kUnlimitedPods = std::numeric_limits<std::int64_t>::max();

// How many more pods, each with these requests, the quota admits; kUnlimitedPods when it limits
// nothing that they request. Limits on `limits.*` and on other objects are not looked at, and a
// scoped quota is taken as not applying to the pods. So the number may be too high: room is then
// bought for pods that the API server refuses, and given back when they do not come.
std::int64_t pods_within(const ResourceQuota& quota, const ResourceList& requests_of_one_pod);

}  // namespace millwright::model
