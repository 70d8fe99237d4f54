// Room that a CapacityBuffer keeps for the pods of its own workload: holds like those for the
// successors of evicted pods, which the next pod of that controller inherits. Unlike other holds
// they stand however long the node has been up.
#pragma once

#include "millwright/scheduling/snapshot.hpp"

#include <string>
#include <string_view>

namespace millwright::cluster {

// Before the uid of the pod that stands for the room. Begins with kSuccessorOf.
inline constexpr std::string_view kBufferHold = "successor-of/capacity-buffer/";

inline bool is_buffer_hold(const scheduling::Hold& hold) {
  return hold.pod_uid.starts_with(kBufferHold);
}

}  // namespace millwright::cluster
