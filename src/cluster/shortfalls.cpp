#include "cluster/shortfalls.hpp"

#include "cluster/freshness.hpp"

#include <algorithm>
#include <utility>

namespace millwright::cluster {
namespace {

Shortfall shortfall_of(const OwnedPods& owned, std::int32_t missing, bool at_once) {
  Shortfall shortfall{.sample = owned.sample};
  if (scheduling::has_own_claim(*owned.sample)) {
    for (const auto& [name, pod] : owned.away) {
      shortfall.away.push_back(pod);
    }
    return shortfall;
  }
  shortfall.later = at_once ? std::min(missing, owned.went) : missing;
  shortfall.expected = missing - shortfall.later;
  return shortfall;
}

}  // namespace

bool Shortfalls::pods_changed(const std::string& owner_uid, const WorkloadTable& workloads,
                              PodTable& pods) {
  return settle(owner_uid, workloads, pods, false);
}

bool Shortfalls::workload_heard(const std::string& owner_uid, const WorkloadTable& workloads,
                                PodTable& pods) {
  const OwnedPods* const owned = pods.owned_by(owner_uid);
  const bool is_news =
      owned != nullptr && !is_lower_version(workloads.version_of(owner_uid), owned->went_at);
  return settle(owner_uid, workloads, pods, is_news);
}

bool Shortfalls::settle(const std::string& owner_uid, const WorkloadTable& workloads,
                        PodTable& pods, bool was_heard) {
  const WorkloadTable::Wants* const wants = workloads.find(owner_uid);
  if (wants == nullptr) {
    pods.forget_owner(owner_uid);
    unsettled_.erase(owner_uid);
    return by_owner_.erase(owner_uid) > 0;
  }
  const OwnedPods* const owned = pods.owned_by(owner_uid);
  if (owned == nullptr) {
    unsettled_.erase(owner_uid);
    return by_owner_.erase(owner_uid) > 0;
  }
  const std::int32_t missing = wants->pods - owned->alive;
  if (missing != 0 && wants->at_once) {
    unsettled_.insert(owner_uid);
  } else {
    unsettled_.erase(owner_uid);
  }
  pods.settle_owner(owner_uid, missing, was_heard);
  const Shortfall now = shortfall_of(*owned, std::max(missing, 0), wants->at_once);
  if (now.expected == 0 && now.later == 0 && now.away.empty()) {
    return by_owner_.erase(owner_uid) > 0;
  }
  return std::exchange(by_owner_[owner_uid], now) != now;
}

}  // namespace millwright::cluster
