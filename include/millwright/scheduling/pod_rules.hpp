// What a pod asks of where others are.
#pragma once

#include "millwright/model/pod.hpp"

namespace millwright::scheduling {

// Whether the pod says anything about other pods: spread, affinity or anti-affinity.
bool has_topology(const model::PodSpec& spec);

}  // namespace millwright::scheduling
