// Which nodes to give back or replace, and why not the others. Pure: the snapshot and the time
// come in, decisions go out; controllers carry them out.
#pragma once

#include "millwright/scheduling/snapshot.hpp"
#include "millwright/scheduling/solve.hpp"

#include <array>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace millwright::disruption {

enum class Reason : std::uint8_t { Empty, Drifted, Underutilized };
std::string_view to_string(Reason reason);  // as in budgets: "Empty"

struct Options {
  scheduling::SolveOptions solve;
  bool spot_to_spot = false;                     // feature gate SpotToSpotConsolidation
  bool static_capacity = false;                  // feature gate StaticCapacity
  std::size_t max_single_node_candidates = 100;  // looked at in one pass
};

struct Input {
  scheduling::SnapshotPtr snapshot;
  scheduling::Catalog catalog;
  // Claims that a command in progress already names.
  std::set<std::string, std::less<>> busy_claims;
  // Pods that stand for room to be kept (CapacityBuffers): they compete for room like pending pods,
  // and a node where they are planned is not empty.
  std::vector<scheduling::PodPtr> virtual_pods;
  std::set<std::string, std::less<>> buffered_nodes;  // names of nodes that keep such room
  base::TimePoint now;
  Options options;
  // When set, told as each method ends, on the thread that decides: for whoever has a clock.
  std::function<void(Reason, std::string_view consolidation_type)> method_done = {};
};

// Remove `claims`, after `replacements` are initialised.
struct Command {
  Reason reason = Reason::Empty;
  std::vector<std::string> claims;  // NodeClaim names
  std::vector<scheduling::PlannedClaim> replacements;
  std::vector<scheduling::Placement> placements;  // where the pods of `claims` are expected
  double savings = 0;                             // per hour
  // "Underutilized: replace node a (c9.4xlarge.4) by c9.2xlarge.4, saving $0.41/h"
  std::string summary;
};

// Karpenter's consolidation type: "empty", "multi", "single", or nothing for drift.
std::string_view consolidation_type(const Command& command);

// Why a node stays.
struct Blocked {
  std::string claim;
  std::string message;  // one sentence: "Its node is nominated for a pending pod until ..."
};

struct Decisions {
  std::vector<Command> commands;
  std::vector<Blocked> blocked;
  // How many nodes nothing but budgets and prices keeps from going, by Reason.
  std::array<std::size_t, 3> eligible{};
  // When a decision may change without any event (a schedule opens, consolidateAfter passes).
  std::optional<base::TimePoint> next_check;
};

Decisions decide(const Input& input);

// Still right? Checked again between choosing (fence) and acting, on a fresh snapshot.
bool still_valid(const Command& command, const Input& input);

// Whether the claim may carry the Consolidatable condition now; `next` is when it may begin to.
struct Consolidatable {
  bool value = false;
  std::optional<base::TimePoint> next;
};
Consolidatable consolidatable(const model::NodeClaim& claim, const model::NodePool& pool,
                              base::TimePoint now);
// NodePoolDrifted, RequirementsDrifted, or empty.
std::string drift_reason(const model::NodeClaim& claim, const model::NodePool& pool);

// Nodes of the pool that may be disrupted now for this reason, less those already going.
int allowed_disruptions(const model::NodePool& pool,
                        const std::vector<scheduling::NodeRecordPtr>& nodes, Reason reason,
                        base::TimePoint now);

}  // namespace millwright::disruption
