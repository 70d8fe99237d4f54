// Pods that the extender refused before the watch showed them. kube-scheduler often hears of a new
// pod a moment before us, and nobody else would wake such a pod later; but a caller can make pods
// up. So a refusal waits here until a snapshot shows its pod. Bounded. Loop thread only.
#pragma once

#include "millwright/extender/extender.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace millwright::app {

class UnseenRefusals {
 public:
  // No watch that is in order lags for longer.
  static constexpr base::Duration kKept = std::chrono::seconds(10);
  static constexpr std::size_t kMost = cluster::Ledger::kMostUnseen;

  // While there are kMost of them, further ones are dropped.
  void put(extender::RefusedPod refused, base::TimePoint now);
  // Takes out those whose pods the snapshot shows waiting, with the pod's facts as it shows them,
  // and drops those that waited for longer than kKept.
  std::vector<extender::RefusedPod> take(const scheduling::Snapshot& snapshot, base::TimePoint now);

 private:
  struct Waiting {
    extender::RefusedPod refused;
    base::TimePoint until;
  };
  std::map<std::string, Waiting, std::less<>> by_uid_;
};

}  // namespace millwright::app
