// What EKS, GKE, ACK and CCE alike keep of a node's CPU for the kubelet. Pure.
#pragma once

#include <cstdint>

namespace millwright::cloud {

// In millicores: 6 % of the first core, 1 % of the second, 0.5 % of the next two, 0.25 % of the
// rest; each step truncated.
std::int64_t reserved_millicores(std::int64_t cores);

}  // namespace millwright::cloud
