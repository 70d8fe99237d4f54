// The zone that a waiting pod asks for itself: Karpenter's effective zone.
#pragma once

#include "millwright/scheduling/snapshot.hpp"

#include <map>
#include <string>

namespace millwright::telemetry {

class Zones {
 public:
  // `snapshot` must outlive this.
  explicit Zones(const scheduling::Snapshot& snapshot) : snapshot_(snapshot) {}
  // The one zone of the pod's node selector, required node affinity and volumes; "flexible" when
  // several will do or none is asked for, "none" when they contradict each other. Spread
  // constraints are left to the planner.
  std::string of(const model::Pod& pod);

 private:
  std::optional<scheduling::Requirement> of_claim(const model::ObjectKey& key);

  const scheduling::Snapshot& snapshot_;
};

}  // namespace millwright::telemetry
