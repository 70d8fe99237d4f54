// The default topology spread constraints that --scheduler-config names, in either of two forms:
// Karpenter's `podTopologySpread: {defaultConstraints: [...]}`, or the KubeSchedulerConfiguration
// (kubescheduler.config.k8s.io/v1) that kube-scheduler itself reads, of which only the
// PodTopologySpread arguments of each profile are looked at.
#pragma once

#include "millwright/base/result.hpp"
#include "millwright/scheduling/default_spread.hpp"

#include <string_view>
#include <vector>

namespace millwright::app {

// Invalid names the field. Constraints of defaultingType System are preferences by which
// kube-scheduler scores nodes and to which it holds no pod: they are left out.
base::Result<std::vector<scheduling::DefaultSpread>> parse_scheduler_config(std::string_view yaml);

// The flag's value: the path of a file, which begins with a slash, or the text itself.
base::Result<std::vector<scheduling::DefaultSpread>> load_scheduler_config(std::string_view value);

}  // namespace millwright::app
