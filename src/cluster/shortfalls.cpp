#include "cluster/shortfalls.hpp"

namespace millwright::cluster {

void Shortfalls::settle(const std::string& owner_uid, const WorkloadTable& workloads,
                        PodTable& pods) {
  const WorkloadTable::Wants* const wants = workloads.find(owner_uid);
  const OwnedPods* const owned = pods.owned_by(owner_uid);
  if (wants != nullptr && owned != nullptr && wants->pods > owned->alive) {
    by_owner_.insert_or_assign(owner_uid, Shortfall{.missing = wants->pods - owned->alive,
                                                    .at_once = wants->at_once,
                                                    .sample = owned->sample});
  } else {
    by_owner_.erase(owner_uid);
  }
  if (wants == nullptr) {
    pods.forget_owner_without_pods(owner_uid);
  }
}

}  // namespace millwright::cluster
