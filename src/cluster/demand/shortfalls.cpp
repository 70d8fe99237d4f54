#include "cluster/demand/shortfalls.hpp"

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
      owned != nullptr && !model::is_lower_version(workloads.version_of(owner_uid), owned->went_at);
  return settle(owner_uid, workloads, pods, is_news);
}

void Shortfalls::wants_none(const std::string& owner_uid, const PodTable& pods) {
  const OwnedPods* const owned = pods.owned_by(owner_uid);
  if (owned != nullptr && owned->alive > 0) {
    unsettled_.insert_or_assign(owner_uid, -owned->alive);
  }
}

std::int32_t Shortfalls::surplus_pods() const {
  std::int32_t surplus = 0;
  for (const auto& [owner_uid, missing] : unsettled_) {
    surplus += std::max(-missing, 0);
  }
  return surplus;
}

bool Shortfalls::settle(const std::string& owner_uid, const WorkloadTable& workloads,
                        PodTable& pods, bool was_heard) {
  const WorkloadTable::Wants* const wants = workloads.find(owner_uid);
  if (wants == nullptr) {
    pods.forget_owner(owner_uid);
    if (unsettled_.erase(owner_uid) > 0) {
      wants_none(owner_uid, pods);
    }
    return by_owner_.erase(owner_uid) > 0;
  }
  const OwnedPods* const owned = pods.owned_by(owner_uid);
  if (owned == nullptr) {
    unsettled_.erase(owner_uid);
    return by_owner_.erase(owner_uid) > 0;
  }
  const std::int32_t missing = wants->pods - owned->alive;
  if (missing != 0 && wants->at_once) {
    unsettled_.insert_or_assign(owner_uid, missing);
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
