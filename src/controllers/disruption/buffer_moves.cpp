#include "controllers/disruption/buffer_moves.hpp"

#include "millwright/controllers/buffers/buffers.hpp"

#include <set>
#include <utility>

namespace millwright::controllers {

std::vector<BufferRoom::Move> begin_buffer_moves(Services& services,
                                                 const disruption::Command& command) {
  if (services.buffers == nullptr) {
    return {};
  }
  std::vector<scheduling::NodeRecordPtr> nodes;
  for (const auto& claim : command.claims) {
    if (auto record = services.state.find_claim(claim)) {
      nodes.push_back(std::move(record));
    }
  }
  return services.buffers->begin_move(nodes);
}

void move_buffer_room(Services& services, const std::vector<std::string>& pod_uids,
                      const std::string& target) {
  if (services.buffers == nullptr) {
    return;
  }
  bool any = false;
  for (const auto& uid : pod_uids) {
    any = services.buffers->move(uid, target) || any;
  }
  if (any) {
    keep_buffer_room_on(services, {target});
  }
}

void end_buffer_moves(Services& services, const std::vector<BufferRoom::Move>& moves) {
  if (moves.empty()) {
    return;
  }
  services.buffers->end_move(moves, *services.state.snapshot());
  std::set<std::string, std::less<>> nodes;
  for (const auto& move : moves) {
    nodes.insert(move.from);
  }
  keep_buffer_room_on(services, nodes);
}

}  // namespace millwright::controllers
