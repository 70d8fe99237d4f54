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

// What keeps a node, apart from the words: as long as it is the same thing, the message may come to
// name another pod or another time.
enum class Cause : std::uint8_t {
  // about the node
  NotInitialized,
  NoNodePool,
  TypesUnknown,
  DoNotDisrupt,
  Nominated,
  RoomKept,
  Fenced,
  // about its pods
  PodsKeepIt,
  PodsHaveNoPlace,
  PodsNeedUnreadyNode,
  PodsStayAway,  // nobody would create them again
  OthersNeedRoom,
  // about its pool
  FixedSize,
  Settling,  // within consolidateAfter
  ConsolidationOff,
  OnlyWhenEmpty,
  BufferRoom,
  Budget,
  ReplacementUnderWay,
  NodeLimit,
  // about money
  NotPriced,
  ManyReplacements,
  NotCheaper,
  SpotToSpotOff,
  FewSpotTypes,
  SameType,
  Unbalanced,
};

struct Why {
  Cause cause;
  std::string message;  // one sentence: "Its node is nominated for a pending pod until ..."
};

enum class Kept : std::uint8_t {
  FromDisruption,     // of the kind that would be next: Karpenter's event DisruptionBlocked
  FromConsolidation,  // it need not be there, or not at that price, but: Unconsolidatable
  AsWanted,           // it is not meant to go yet; nothing that anybody has to be told
};

// Why a node stays.
struct Blocked {
  std::string claim;
  Kept kept = Kept::FromDisruption;
  Why why;
};

// The pool's spec.disruption.budgets keep a node that nothing else keeps.
struct SpentBudget {
  std::string node_pool;
  Reason reason = Reason::Empty;
  friend auto operator<=>(const SpentBudget&, const SpentBudget&) = default;
};

// How a pool with consolidationPolicy Balanced judged one possible move: the share of its cost that
// would be saved, by the share of its pods that would be disturbed; approved from 1/2.
struct Score {
  std::string node_pool;
  double value = 0;
  bool approved = false;
};

struct Decisions {
  std::vector<Command> commands;
  std::vector<Blocked> blocked;            // sorted by claim
  std::vector<SpentBudget> spent_budgets;  // sorted
  std::vector<Score> scores;               // in the order moves were looked at
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
// InstanceTypeNotFound when the claim's type is not among these any more, or is not sold in its
// zone for its capacity type, available or not; else empty. As in Karpenter, a claim is not judged
// in its first hour, and one on a reservation may be sold on demand instead. An empty list says
// nothing.
std::string sale_drift_reason(const model::NodeClaim& claim, const scheduling::InstanceTypes& types,
                              base::TimePoint now);

// Nodes of the pool that may be disrupted now for this reason, less those already going.
int allowed_disruptions(const model::NodePool& pool,
                        const std::vector<scheduling::NodeRecordPtr>& nodes, Reason reason,
                        base::TimePoint now);

}  // namespace millwright::disruption
