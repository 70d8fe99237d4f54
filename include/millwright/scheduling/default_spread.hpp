// The default topology spread constraints of a kube-scheduler profile (defaultConstraints of
// PodTopologySpreadArgs, kubescheduler.config.k8s.io/v1). They hold for pods that have no spread
// constraint of their own; whom they are spread with is deduced from the Services and the
// controller of the pod, as kube-scheduler deduces it.
#pragma once

#include "millwright/model/pod.hpp"

#include <string>
#include <vector>

namespace millwright::scheduling {

struct DefaultSpread {
  std::string scheduler_name;  // of the pods that it holds for; empty: of every scheduler
  std::vector<model::TopologySpreadConstraint> constraints;  // without selectors
  friend bool operator==(const DefaultSpread&, const DefaultSpread&) = default;
};

}  // namespace millwright::scheduling
