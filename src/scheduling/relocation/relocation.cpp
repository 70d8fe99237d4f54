#include "millwright/scheduling/relocation.hpp"

#include "scheduling/compile/topology/default_spread.hpp"
#include "scheduling/devices/device_planning.hpp"
#include "scheduling/packing/compiled_problem.hpp"
#include "scheduling/packing/nodes_in_use.hpp"
#include "scheduling/relocation/room_index.hpp"
#include "scheduling/topology/narrowings.hpp"
#include "scheduling/topology/topology_choices.hpp"
#include "scheduling/topology/topology_counts.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

namespace millwright::scheduling {
namespace {

// Nodes with room that may turn a pod away before it counts as having no place. A pod that few of
// many nodes would take stays where it is; the planner may still move it.
constexpr int kMostTries = 64;

}  // namespace

struct Relocation::Impl {
  Impl(Problem of, const std::vector<std::string>& names, PlanMemory& given, DeviceMemory& devices)
      : memory(given),
        problem(with_devices(with_default_spread(std::move(of)), devices)),
        compiled(problem, std::move(*memory.compiled_)),
        counts(compiled.topology),
        narrowings(compiled.topology, compiled.pods.rung_count),
        choices(compiled.topology, counts, narrowings),
        nodes(compiled, counts),
        residents(nodes.end_id().index()),
        places(nodes.end_id().index()),
        rooms(names.size(), compiled.pods.columns.size()) {
    find_nodes(names);
    find_residents();
  }
  ~Impl() { *memory.compiled_ = std::move(compiled).release(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  bool remove(std::string_view name) {
    const auto found = by_name.find(name);
    if (found == by_name.end()) {
      return false;
    }
    const NodeId node = found->second;
    take_away(node);
    std::vector<PodId> movers = residents[node];
    std::sort(movers.begin(), movers.end());
    if (!std::all_of(movers.begin(), movers.end(), [this](PodId pod) { return place(pod); })) {
      take_back();
      bring_back(node);
      return false;
    }
    residents[node].clear();
    settle();
    by_name.erase(found);
    return true;
  }

 private:
  // A pod that has been placed, and the place as it was before.
  struct Move {
    PodId pod;
    NodeId to;
    NodeUse before;
  };

  void find_nodes(const std::vector<std::string>& names) {
    for (NodeId node; node < nodes.end_id(); ++node) {
      by_name.emplace(compiled.nodes.nodes()[node].record->name(), node);
    }
    for (const std::string& name : names) {
      const auto found = by_name.find(name);
      if (found != by_name.end() && !places[found->second]) {
        places[found->second] = order.size();
        order.push_back(found->second);
        rooms.set(order.size() - 1, nodes[found->second].room);
      }
    }
  }

  // Room, ports and volumes on a node know of the pods there; groups of pods do not.
  void find_residents() {
    std::vector<PodId> waiting;
    for (PodId pod; pod < compiled.pods.pods.end_id(); ++pod) {
      const auto home = by_name.find(compiled.pods.pods[pod].pod->spec.node_name);
      if (home == by_name.end()) {
        waiting.push_back(pod);
        continue;
      }
      residents[home->second].push_back(pod);
      nodes.count(home->second, compiled.pods.constraint_of(pod));
    }
    for (const PodId pod : waiting) {
      place(pod);
    }
    settle();
  }

  void settle() {
    for (const Move& move : moves) {
      residents[move.to].push_back(move.pod);
    }
    moves.clear();
  }

  void take_away(NodeId node) {
    if (const auto place = places[node]) {
      rooms.close(*place);
    }
    for (const PodId pod : residents[node]) {
      nodes.uncount(node, compiled.pods.constraint_of(pod));
    }
  }

  void bring_back(NodeId node) {
    for (const PodId pod : residents[node]) {
      nodes.count(node, compiled.pods.constraint_of(pod));
    }
    show_room(node);
  }

  // To whoever looks for a place; not of a node that takes no pods.
  void show_room(NodeId node) {
    if (const auto place = places[node]) {
      rooms.set(*place, nodes[node].room);
    }
  }

  void take_back() {
    for (auto move = moves.rbegin(); move != moves.rend(); ++move) {
      nodes.uncount(move->to, compiled.pods.constraint_of(move->pod));
      nodes.restore(move->to, std::move(move->before));
      show_room(move->to);
    }
    moves.clear();
  }

  bool place(PodId pod) {
    const PodClass& pod_class = compiled.pods.class_of(pod);
    const Constraint& constraint = compiled.pods.constraints[pod_class.constraint];
    return std::any_of(constraint.ladder.begin(), constraint.ladder.end(), [&](const Rung& rung) {
      return place_on(pod, {pod_class, constraint, rung});
    });
  }

  bool place_on(PodId pod, Applicant applicant) {
    applicant.narrowed.closed = choices.closed(applicant.constraint);
    const Amounts& requests = applicant.pod_class.requests;
    std::size_t from = 0;
    for (int tries = 0; tries < kMostTries; ++tries) {
      const auto found = rooms.find(requests, from);
      if (!found) {
        return false;
      }
      const NodeId node = order[*found];
      if (choices.suits(applicant, node, nodes[node].hosts) && nodes.admits(node, applicant, pod)) {
        moves.push_back({pod, node, nodes[node]});
        nodes.add(node, applicant, pod);
        rooms.set(*found, nodes[node].room);
        return true;
      }
      from = *found + 1;
    }
    return false;
  }

  PlanMemory& memory;
  const Problem problem;
  CompiledProblem compiled;
  TopologyCounts counts;
  Narrowings narrowings;
  TopologyChoices choices;
  NodesInUse nodes;
  std::unordered_map<std::string_view, NodeId> by_name;  // those that are not gone
  ById<NodeId, std::vector<PodId>> residents;            // pods of the problem
  ById<NodeId, std::optional<std::size_t>> places;       // in `order`
  std::vector<NodeId> order;
  RoomIndex rooms;
  std::vector<Move> moves;  // of the removal that is being tried
};

Relocation::Relocation(Problem problem, const std::vector<std::string>& order, PlanMemory& memory)
    : impl_(std::make_unique<Impl>(std::move(problem), order, memory, *memory.devices_)) {}

Relocation::~Relocation() = default;

bool Relocation::remove(std::string_view node) {
  return impl_->remove(node);
}

}  // namespace millwright::scheduling
