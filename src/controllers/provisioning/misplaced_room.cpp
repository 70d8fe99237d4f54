#include "controllers/provisioning/misplaced_room.hpp"

#include "millwright/controllers/services.hpp"
#include "millwright/model/conditions.hpp"
#include "millwright/scheduling/kept_rooms.hpp"
#include "millwright/scheduling/pod_rules.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace millwright::controllers {
namespace {

constexpr auto kStandstill = std::chrono::seconds(1);
// A look counts the pods of the whole cluster, on the loop's thread.
constexpr std::size_t kMostAtOnce = 2;

bool takes_pods(const scheduling::NodeRecordPtr& record) {
  return record != nullptr && record->node != nullptr && record->initialized() &&
         !record->marked_for_deletion && !record->fenced && !record->node->unschedulable &&
         model::is_ready(*record->node);
}

// What is reserved for a group and for no buffer.
struct OwnRoom {
  std::int32_t reserved = 0;
  std::vector<std::string> targets_up;
  std::vector<scheduling::NodeRecordPtr> nodes_up;
  bool all_up = true;
};

OwnRoom room_of(const scheduling::GroupId& group, const scheduling::Snapshot& snapshot,
                const cluster::LedgerView& ledger) {
  OwnRoom room;
  for (const std::string& target : ledger.targets_of(group)) {
    const auto* reservation = ledger.find(group, target);
    if (reservation->of_buffer) {
      continue;
    }
    room.reserved += reservation->count;
    if (auto record = find_node(snapshot, target); takes_pods(record)) {
      room.targets_up.push_back(target);
      room.nodes_up.push_back(std::move(record));
    } else {
      room.all_up = false;
    }
  }
  return room;
}

// A group that has stood still.
struct Due {
  base::TimePoint since;
  scheduling::PodPtr refused;  // one of its pods
  scheduling::GroupId group;
  OwnRoom room;
};

bool is_refused(const scheduling::PodPtr& pod) {
  return model::is_reported_unschedulable(*pod);
}

// Whether there is a place for one more pod once all others are where room is reserved for them.
bool admits_another(const scheduling::PodPtr& pod, const scheduling::GroupId& group,
                    const OwnRoom& room, const scheduling::SnapshotPtr& snapshot,
                    const scheduling::SolveOptions& solve) {
  scheduling::Problem problem;
  problem.nodes = room.nodes_up;
  problem.counted_nodes = snapshot->nodes;
  problem.pods = {pod};
  scheduling::KeptRooms rooms(*snapshot);
  for (const auto& reservation : snapshot->reservations) {
    const bool own =
        reservation.group == group &&
        std::binary_search(room.targets_up.begin(), room.targets_up.end(), reservation.target);
    if (!own) {
      problem.kept.push_back(rooms.of(reservation, reservation.count));
    }
  }
  problem.options = solve;
  problem.options.economise = false;
  // What kube-scheduler only prefers keeps no pod away.
  problem.options.preferences = scheduling::PreferencePolicy::Ignore;
  problem.cluster = snapshot;
  return !scheduling::solve(problem).placements.empty();
}

}  // namespace

std::vector<MisplacedRoom::Found> MisplacedRoom::look(const scheduling::SnapshotPtr& snapshot,
                                                      const cluster::LedgerView& ledger,
                                                      const std::vector<cluster::PassPtr>& passes,
                                                      base::TimePoint now,
                                                      const scheduling::SolveOptions& solve) {
  auto before = std::exchange(standing_, {});
  std::set<scheduling::GroupId> moving;
  for (const auto& pass : passes) {
    moving.insert(pass->group);
  }
  std::vector<Due> due;
  for (const auto& demand : snapshot->demand) {
    const auto refused = std::find_if(demand.waiting.begin(), demand.waiting.end(), is_refused);
    if (refused == demand.waiting.end() || moving.contains(demand.group)) {
      continue;
    }
    OwnRoom room = room_of(demand.group, *snapshot, ledger);
    if (room.targets_up.empty()) {
      continue;
    }
    Standstill standing{room.reserved, demand.waiting.size(), now + kStandstill};
    const auto known = before.find(demand.group);
    if (known != before.end() && known->second.reserved == standing.reserved &&
        known->second.waiting == standing.waiting) {
      standing.look_at = known->second.look_at;
    }
    if (standing.look_at <= now) {
      due.push_back({standing.look_at, *refused, demand.group, std::move(room)});
    }
    standing_.emplace(demand.group, standing);
  }
  // Who has waited longest for a look comes first, so that everybody's turn comes.
  std::stable_sort(due.begin(), due.end(),
                   [](const Due& a, const Due& b) { return a.since < b.since; });
  due.resize(std::min(due.size(), kMostAtOnce));
  std::vector<Found> found;
  for (Due& each : due) {
    if (admits_another(each.refused, each.group, each.room, snapshot, solve)) {
      standing_.at(each.group).look_at = now + kStandstill;
    } else {
      standing_.erase(each.group);
      found.push_back({.group = each.group, .targets = std::move(each.room.targets_up)});
    }
  }
  return found;
}

bool may_wait_for_others(const scheduling::GroupId& group, const scheduling::Snapshot& snapshot,
                         const cluster::LedgerView& ledger) {
  const auto* demand = scheduling::find_demand(snapshot.demand, group);
  return demand != nullptr && scheduling::has_topology(demand->sample->spec) &&
         !room_of(group, snapshot, ledger).all_up;
}

}  // namespace millwright::controllers
