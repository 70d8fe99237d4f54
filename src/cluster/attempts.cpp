#include "cluster/attempts.hpp"

#include <algorithm>

namespace millwright::cluster {

void Ledger::Attempts::begin(std::string_view pod_uid, base::TimePoint now) {
  put(Pass{.pod_uid = std::string(pod_uid),
           .at = now,
           .until = now + kPassLifetime,
           .everywhere = true});
}

void Ledger::Attempts::put(Pass pass) {
  const base::TimePoint now = pass.at;
  forget_old(now);
  const auto known = by_pod_.find(pass.pod_uid);
  if (known == by_pod_.end() || known->second->until != pass.until) {
    // Almost always at the end: few pods wait for volumes.
    const auto place = std::pair(pass.until, pass.pod_uid);
    order_.insert(std::upper_bound(order_.begin(), order_.end(), place), place);
  }
  if (by_pod_.size() >= kDetailedPasses) {
    pass.everywhere = true;
    pass.node_hashes = {};
  }
  const std::string uid = pass.pod_uid;
  by_pod_.insert_or_assign(uid, std::make_shared<const Pass>(std::move(pass)));
}

void Ledger::Attempts::end(std::string_view pod_uid) {
  const auto known = by_pod_.find(pod_uid);
  if (known != by_pod_.end()) {
    by_pod_.erase(known);
  }
}

PassPtr Ledger::Attempts::of(std::string_view pod_uid) const {
  const auto known = by_pod_.find(pod_uid);
  return known == by_pod_.end() ? nullptr : known->second;
}

std::vector<PassPtr> Ledger::Attempts::alive(base::TimePoint now) const {
  std::vector<PassPtr> passes;
  for (const auto& [uid, pass] : by_pod_) {
    if (now < pass->until) {
      passes.push_back(pass);
    }
  }
  return passes;
}

void Ledger::Attempts::forget_old(base::TimePoint now) {
  while (!order_.empty() && (order_.front().first <= now || order_.size() >= 8 * kDetailedPasses)) {
    const auto known = by_pod_.find(order_.front().second);
    // A later attempt of the same pod has its own place in the order.
    if (known != by_pod_.end() && known->second->until == order_.front().first) {
      by_pod_.erase(known);
    }
    order_.pop_front();
  }
}

}  // namespace millwright::cluster
