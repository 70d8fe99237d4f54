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
                              PodTable& pods, base::TimePoint now) {
  return settle(owner_uid, workloads, pods, {.now = now});
}

bool Shortfalls::workload_heard(const std::string& owner_uid, const WorkloadTable& workloads,
                                PodTable& pods, base::TimePoint now) {
  const OwnedPods* const owned = pods.owned_by(owner_uid);
  const bool is_news =
      owned != nullptr && !model::is_lower_version(workloads.version_of(owner_uid), owned->went_at);
  return settle(owner_uid, workloads, pods, {.now = now, .was_heard = is_news});
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
                        PodTable& pods, const Settling& how) {
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
  pods.settle_owner(owner_uid, missing, how.was_heard);
  Shortfall now = shortfall_of(*owned, std::max(missing, 0), wants->at_once);
  if (now.expected == 0 && now.later == 0 && now.away.empty()) {
    return by_owner_.erase(owner_uid) > 0;
  }
  const auto [entry, is_new] = by_owner_.try_emplace(owner_uid);
  Known& known = entry->second;
  Progress& progress = known.progress;
  // Pods that end and are replaced are none. Nor is a Job nearer to what it wants when a pod has
  // done its work, so that less is wanted.
  const bool asks_for_more =
      wants->pods > progress.wants.pods || (wants->at_once && !progress.wants.at_once);
  if (is_new || asks_for_more || owned->alive > progress.most_alive) {
    progress.most_alive = owned->alive;
    progress.at = how.now;
  }
  progress.wants = *wants;
  const base::TimePoint due = progress.at + kLongestPause;
  if (due <= how.now) {
    now.later += std::exchange(now.expected, 0);
  } else if (now.expected > 0) {
    next_expiry_ = std::min(due, next_expiry_.value_or(due));
  }
  return std::exchange(known.shortfall, now) != now;
}

bool Shortfalls::expire(base::TimePoint now) {
  if (!next_expiry_ || now < *next_expiry_) {
    return false;
  }
  next_expiry_.reset();
  bool expired = false;
  for (auto& [owner_uid, known] : by_owner_) {
    if (known.shortfall.expected == 0) {
      continue;
    }
    const base::TimePoint due = known.progress.at + kLongestPause;
    if (due <= now) {
      known.shortfall.later += std::exchange(known.shortfall.expected, 0);
      expired = true;
    } else {
      next_expiry_ = std::min(due, next_expiry_.value_or(due));
    }
  }
  return expired;
}

}  // namespace millwright::cluster
