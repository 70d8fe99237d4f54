#include "cluster/attempts.hpp"

#include <algorithm>

namespace millwright::cluster {

void Ledger::Attempts::begin(std::string_view pod_uid, base::TimePoint now) {
  put(Pass{.pod_uid = std::string(pod_uid), .at = now, .everywhere = true});
}

void Ledger::Attempts::add_node(std::string_view pod_uid, std::uint64_t node_hash,
                                base::TimePoint now) {
  const auto known = by_pod_.find(pod_uid);
  const bool alive = known != by_pod_.end() && now < known->second->at + kPassLifetime;
  Pass pass = alive ? *known->second : Pass{.pod_uid = std::string(pod_uid)};
  pass.at = now;
  const auto at = std::lower_bound(pass.node_hashes.begin(), pass.node_hashes.end(), node_hash);
  if (at == pass.node_hashes.end() || *at != node_hash) {
    pass.node_hashes.insert(at, node_hash);
  }
  put(std::move(pass));
}

void Ledger::Attempts::put(Pass pass) {
  const base::TimePoint now = pass.at;
  forget_old(now);
  const auto known = by_pod_.find(pass.pod_uid);
  if (known == by_pod_.end() || known->second->at != now) {
    order_.emplace_back(now, pass.pod_uid);
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

std::vector<PassPtr> Ledger::Attempts::alive(base::TimePoint now) const {
  std::vector<PassPtr> passes;
  for (const auto& [uid, pass] : by_pod_) {
    if (now < pass->at + kPassLifetime) {
      passes.push_back(pass);
    }
  }
  return passes;
}

void Ledger::Attempts::forget_old(base::TimePoint now) {
  while (!order_.empty() &&
         (order_.front().first + kPassLifetime <= now || order_.size() >= 8 * kDetailedPasses)) {
    const auto known = by_pod_.find(order_.front().second);
    // A later attempt of the same pod has its own place in the order.
    if (known != by_pod_.end() && known->second->at == order_.front().first) {
      by_pod_.erase(known);
    }
    order_.pop_front();
  }
}

}  // namespace millwright::cluster
