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
  bool scoped = false;  // it counts only some of the namespace's pods
  friend bool operator==(const ResourceQuota&, const ResourceQuota&) = default;
};

inline constexpr std::int64_t kUnlimitedPods = std::numeric_limits<std::int64_t>::max();

// What the pods of a namespace take of its quotas. It is counted from the pods and not read from a
// quota's status.used: that comes by another watch, a little before or after the pods it counts, so
// that pods that just came would be missing from both or be counted by both.
struct QuotaUse {
  std::int64_t objects = 0;  // pods that exist
  ResourceList requests;     // of those that are not over; kPods of them is their number
};

// How many more pods, each with these requests, the quota admits beside `use`; kUnlimitedPods when
// it limits nothing that they request. Limits on `limits.*` and on other objects are not looked at,
// and a scoped quota is taken as not applying to the pods. So the number may be too high: room is
// then bought for pods that the API server refuses, and given back when they do not come.
std::int64_t pods_within(const ResourceQuota& quota, const ResourceList& requests_of_one_pod,
                         const QuotaUse& use);

}  // namespace millwright::model
