#include "millwright/model/resource_quota.hpp"

#include <algorithm>

namespace millwright::model {
namespace {

// How much one pod adds to the usage of a quota's entry.
Quantity taken_by_one_pod(std::string_view entry, const ResourceList& requests) {
  if (entry == kPods || entry == "count/pods") {
    return Quantity::from_units(1);
  }
  constexpr std::string_view kRequests = "requests.";
  if (entry.starts_with(kRequests)) {
    return get(requests, entry.substr(kRequests.size()));
  }
  // Of these alone the plain name means the requests too.
  const bool plain = entry == kCpu || entry == kMemory || entry == kEphemeralStorage ||
                     entry.starts_with("hugepages-");
  return plain ? get(requests, entry) : Quantity();
}

}  // namespace

std::int64_t pods_within(const ResourceQuota& quota, const ResourceList& requests_of_one_pod) {
  std::int64_t pods = kUnlimitedPods;
  if (quota.scoped) {
    return pods;
  }
  for (const auto& [entry, hard] : quota.hard) {
    const Quantity one = taken_by_one_pod(entry, requests_of_one_pod);
    if (one <= Quantity()) {
      continue;
    }
    const Quantity left = hard - get(quota.used, entry);
    pods = std::min(pods, std::max<std::int64_t>(0, left.milli() / one.milli()));
  }
  return pods;
}

}  // namespace millwright::model
