// The room of CapacityBuffers on nodes that a command removes: it is reserved elsewhere before they
// go. Without the feature gate CapacityBuffer these do nothing.
#pragma once

#include "millwright/controllers/buffers/buffer_room.hpp"
#include "millwright/controllers/services.hpp"

#include <string>
#include <vector>

namespace millwright::controllers {

std::vector<BufferRoom::Move> begin_buffer_moves(Services& services,
                                                 const disruption::Command& command);
// `target` is a node's or claim's name. Uids of real pods are passed over.
void move_buffer_room(Services& services, const std::vector<std::string>& pod_uids,
                      const std::string& target);
// The command was carried out or taken back.
void end_buffer_moves(Services& services, const std::vector<BufferRoom::Move>& moves);

}  // namespace millwright::controllers
