// The owners whose workload wants more pods than exist, so that pods which are still to come are
// found without a walk over all pods or workloads. An owner counts once one of its pods was seen:
// what the others will be like is known from it.
//
// Pods and workloads come by different watches. A pod that went may be one that is wanted no more:
// a Job's that has done its work, one of a ReplicaSet that was scaled down. So it is only expected
// again once its workload was heard after it went; until then it may come some time. Nor is it
// expected for ever: something that no quota tells may deny it.
#pragma once

#include "cluster/demand/workload_table.hpp"
#include "cluster/pod_table.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace millwright::cluster {

struct Shortfall {
  std::int32_t expected = 0;  // so many like the sample are about to be created
  std::int32_t later = 0;     // and so many may come some time
  scheduling::PodPtr sample;
  // In place of both for pods with claims of their own: no sample tells what another will be like,
  // but these come back as they were.
  std::vector<scheduling::PodPtr> away;
  friend bool operator==(const Shortfall&, const Shortfall&) = default;
};

class Shortfalls {
 public:
  // A controller that may create pods creates some within this. One that comes to have no more
  // than it had for so long is denied them, by a quota with scopes or an admission webhook.
  static constexpr base::Duration kLongestPause = std::chrono::seconds(30);

  // After each change of an owner's pods, and after each event of its workload. Says whether the
  // owner's shortfall changed. What nobody needs any more is forgotten by `pods`.
  bool pods_changed(const std::string& owner_uid, const WorkloadTable& workloads, PodTable& pods,
                    base::TimePoint now);
  bool workload_heard(const std::string& owner_uid, const WorkloadTable& workloads, PodTable& pods,
                      base::TimePoint now);
  // Pods of owners that have paused for too long come some time; false when there are none.
  bool expire(base::TimePoint now);

  // The workload went from wanting pods to wanting none, and is about to delete those it has.
  void wants_none(const std::string& owner_uid, const PodTable& pods);

  // Workloads that are about to create or delete pods, all at once.
  std::int32_t unsettled() const { return static_cast<std::int32_t>(unsettled_.size()); }
  // Pods beyond what these want.
  std::int32_t surplus_pods() const;

  // Calls visit(shortfall) for each owner, in the order of uids.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [owner_uid, known] : by_owner_) {
      visit(known.shortfall);
    }
  }

 private:
  // When the owner last came to have more pods than before, or began to want more.
  struct Progress {
    WorkloadTable::Wants wants;
    std::int32_t most_alive = 0;
    base::TimePoint at;
  };
  struct Known {
    Shortfall shortfall;
    Progress progress;
  };
  struct Settling {
    base::TimePoint now;
    bool was_heard = false;
  };
  bool settle(const std::string& owner_uid, const WorkloadTable& workloads, PodTable& pods,
              const Settling& how);

  std::map<std::string, Known, std::less<>> by_owner_;
  std::optional<base::TimePoint> next_expiry_;  // nothing is due before
  // Pods that are missing, below 0 that are too many; never 0. By uid.
  std::map<std::string, std::int32_t, std::less<>> unsettled_;
};

}  // namespace millwright::cluster
