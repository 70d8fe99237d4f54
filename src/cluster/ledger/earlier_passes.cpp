#include "cluster/ledger/earlier_passes.hpp"

#include <algorithm>

namespace millwright::cluster {
namespace {

constexpr std::size_t kMostOfPod = 2;
constexpr std::size_t kMostEarlier = 1024;
constexpr std::size_t kMostNamed = Ledger::kNamedNodes / 4;

}  // namespace

void EarlierPasses::keep(PassPtr pass, base::TimePoint followed) {
  const base::TimePoint until = std::min(pass->until, followed + Ledger::kPassLifetime);
  const auto of_pod = by_pod_.try_emplace(pass->pod_uid).first;
  by_end_.emplace(until, pass->pod_uid);
  named_ += pass->node_hashes.size();
  of_pod->second.push_back({std::move(pass), until});
  if (of_pod->second.size() > kMostOfPod) {
    forget_oldest(of_pod);
  }
  while (by_end_.size() > kMostEarlier || named_ > kMostNamed) {
    forget_first();
  }
}

void EarlierPasses::drop(std::string_view pod_uid) {
  for (auto found = by_pod_.find(pod_uid); found != by_pod_.end(); found = by_pod_.find(pod_uid)) {
    forget_oldest(found);
  }
}

void EarlierPasses::forget_old(base::TimePoint now) {
  while (!by_end_.empty() && by_end_.begin()->first <= now) {
    forget_first();
  }
}

void EarlierPasses::add_in_doubt(std::uint64_t node_hash, base::TimePoint now,
                                 std::vector<std::string>& uids) const {
  for (const auto& [uid, passes] : by_pod_) {
    if (any_may_land(passes, node_hash, now)) {
      uids.push_back(uid);
    }
  }
}

bool EarlierPasses::any_in_doubt(std::uint64_t node_hash, base::TimePoint now) const {
  return std::any_of(by_pod_.begin(), by_pod_.end(), [&](const auto& of_pod) {
    return any_may_land(of_pod.second, node_hash, now);
  });
}

bool EarlierPasses::any_may_land(const Passes& passes, std::uint64_t node_hash,
                                 base::TimePoint now) {
  return std::any_of(passes.begin(), passes.end(), [&](const Earlier& each) {
    return now < each.until && each.pass->may_land_on(node_hash);
  });
}

// Of a pod's passes the oldest ends first, too.
void EarlierPasses::forget_oldest(OfPod of_pod) {
  const Earlier& oldest = of_pod->second.front();
  named_ -= oldest.pass->node_hashes.size();
  by_end_.erase(by_end_.find({oldest.until, of_pod->first}));
  of_pod->second.pop_front();
  if (of_pod->second.empty()) {
    by_pod_.erase(of_pod);
  }
}

}  // namespace millwright::cluster
