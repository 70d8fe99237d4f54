#include "disruption/simulation/settling_room.hpp"

#include "millwright/scheduling/kept_rooms.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace millwright::disruption {
namespace {

// Those nodes and no NodePools: nothing is bought.
scheduling::Problem settling_nodes(const Input& input, const Destinations& destinations) {
  scheduling::Problem problem;
  std::set<std::string_view> targets;
  for (const auto& destination : destinations.nodes()) {
    if (destination.within_consolidate_after && !destination.down) {
      problem.nodes.push_back(destination.record);
      targets.insert(destination.record->name());
      targets.insert(destination.record->claim_name());
    }
  }
  scheduling::KeptRooms rooms(*input.snapshot);
  for (const auto& reservation : destinations.reservations()) {
    if (targets.contains(reservation.target)) {
      problem.kept.push_back(rooms.of(reservation, reservation.count));
    }
  }
  for (const auto& [room, home] : destinations.rooms_of_buffers()) {
    if (home != nullptr && home->within_consolidate_after && !home->down) {
      problem.kept.push_back({.target = room->target,
                              .pod_uid = {},
                              .requests = scheduling::effective_requests(*room->pod)});
    }
  }
  problem.counted_nodes = input.snapshot->nodes;
  problem.departing = destinations.departing();
  problem.daemon_sets = input.snapshot->daemon_sets;
  problem.options = input.options.solve;
  problem.options.economise = false;
  problem.cluster = input.snapshot;
  return problem;
}

}  // namespace

std::vector<scheduling::PodPtr> pods_without_settling_room(const Input& input,
                                                           const Destinations& destinations) {
  auto pods = destinations.other_pods();
  if (pods.empty()) {
    return pods;
  }
  auto problem = settling_nodes(input, destinations);
  if (problem.nodes.empty()) {
    return pods;
  }
  problem.pods = pods;
  const auto plan = scheduling::solve(problem);
  std::set<std::string_view> placed;
  for (const auto& placement : plan.placements) {
    placed.insert(placement.pod_uid);
  }
  std::erase_if(pods, [&](const auto& pod) { return placed.contains(pod->meta.uid); });
  return pods;
}

}  // namespace millwright::disruption
