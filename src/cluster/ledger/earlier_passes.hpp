// Attempts of pods that kube-scheduler has asked for again. Two kube-schedulers do that when one
// takes over from the other: the first one's request to bind may be on its way. Guarded like
// Attempts, and bounded: those that end first are forgotten.
#pragma once

#include "millwright/cluster/ledger.hpp"

#include <cstddef>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millwright::cluster {

class EarlierPasses {
 public:
  // The pass was followed by another attempt of its pod at `followed`.
  void keep(PassPtr pass, base::TimePoint followed);
  void drop(std::string_view pod_uid);
  void forget_old(base::TimePoint now);
  // Adds the pods that may still land on the node, in no order.
  void add_in_doubt(std::uint64_t node_hash, base::TimePoint now,
                    std::vector<std::string>& uids) const;
  bool any_in_doubt(std::uint64_t node_hash, base::TimePoint now) const;

 private:
  struct Earlier {
    PassPtr pass;
    base::TimePoint until;
  };
  using Passes = std::deque<Earlier>;  // oldest first
  using OfPod = std::map<std::string, Passes, std::less<>>::iterator;
  static bool any_may_land(const Passes& passes, std::uint64_t node_hash, base::TimePoint now);
  void forget_oldest(OfPod of_pod);
  void forget_first() { forget_oldest(by_pod_.find(by_end_.begin()->second)); }

  std::map<std::string, Passes, std::less<>> by_pod_;
  std::multiset<std::pair<base::TimePoint, std::string>> by_end_;  // each one's end and pod
  std::size_t named_ = 0;                                          // nodes, by all together
};

}  // namespace millwright::cluster
