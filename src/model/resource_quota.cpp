#include "millwright/model/resource_quota.hpp"

#include <algorithm>

namespace millwright::model {
namespace {

// How much such pods take of what a quota's entry limits.
Quantity taken_by(std::string_view entry, const QuotaUse& use) {
  if (entry == "count/pods") {
    return Quantity::from_units(use.objects);
  }
  constexpr std::string_view kRequests = "requests.";
  if (entry.starts_with(kRequests)) {
    return get(use.requests, entry.substr(kRequests.size()));
  }
  // Of these alone the plain name means the requests too.
  const bool plain = entry == kPods || entry == kCpu || entry == kMemory ||
                     entry == kEphemeralStorage || entry.starts_with("hugepages-");
  return plain ? get(use.requests, entry) : Quantity();
}

}  // namespace

std::int64_t pods_within(const ResourceQuota& quota, const ResourceList& requests_of_one_pod,
                         const QuotaUse& use) {
  std::int64_t pods = kUnlimitedPods;
  if (quota.scoped) {
    return pods;
  }
  const QuotaUse one_pod{.objects = 1, .requests = requests_of_one_pod};
  for (const auto& [entry, hard] : quota.hard) {
    const Quantity one = taken_by(entry, one_pod);
    if (one <= Quantity()) {
      continue;
    }
    const Quantity left = hard - taken_by(entry, use);
    pods = std::min(pods, std::max<std::int64_t>(0, left.milli() / one.milli()));
  }
  return pods;
}

}  // namespace millwright::model
