// Which nodes to give back or replace, and why not the others. Pure: the snapshot and the time
// come in, decisions go out; controllers carry them out.
#pragma once

#include "millwright/disruption/pod_obstacles.hpp"
#include "millwright/scheduling/snapshot.hpp"
#include "millwright/scheduling/solve.hpp"

#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
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
  // A node is consolidated once no pod has come or gone for so long, however short consolidateAfter
  // is: pods that are still moving would be moved again, and the next may want the node that the
  // last has just left. Karpenter validates a decision 15 s after it was made, to the same effect.
  // Less than ten seconds means little: a NodeClaim tells of its pods' moves that much later.
  base::Duration settle_time{};
  // So much longer a node with pods waits for nodes of its pool that will come to rest by then, so
  // that they are judged together. One by one, the first to settle would go, whichever they are;
  // and those are often the fullest, to which no pod comes any more.
  base::Duration settle_together{};
  // What a node costs per hour beside its instance (its disk, its address, licences per host),
  // unless its NodePool says so in an annotation.
  double node_overhead = 0;
  double max_price_ratio = 0;  // scheduling::PoolOption::max_price_ratio
  // After so long no pod moves to a node that has registered and does not become initialised, see
  // scheduling::StuckNodes.
  base::Duration registration_timeout = std::chrono::minutes(15);
};

// A pod that stands for room to be kept (CapacityBuffers), and where that room is. It competes for
// room like a pending pod, and moves when its node goes.
struct VirtualPod {
  scheduling::PodPtr pod;
  std::string target;  // a node's name, or that of a claim which has no node yet
};

// What decisions remember of nodes that have not changed since the one before. It changes nothing
// but how long a decision takes. For one decision or check at a time.
class Memory;
std::shared_ptr<Memory> make_memory();

// What a write for a claim's removal was answered, and until when its node is left alone.
struct Failed {
  base::TimePoint until;
  std::string error;
};

struct Input {
  scheduling::SnapshotPtr snapshot;
  scheduling::Catalog catalog;
  // Claims that a command in progress already names.
  std::set<std::string, std::less<>> busy_claims;
  // Claims whose nodes had to be opened again because pods might still have come, and until when
  // they stay for that.
  std::map<std::string, base::TimePoint, std::less<>> doubted = {};
  std::map<std::string, Failed, std::less<>> failed = {};  // by claim
  std::vector<VirtualPod> virtual_pods;
  base::TimePoint now;
  Options options;
  // By NodePool, in place of Options::settle_time: for nodes with pods, and for empty ones.
  std::map<std::string, base::Duration, std::less<>> settle_times = {};
  std::map<std::string, base::Duration, std::less<>> idle_times = {};
  // Called on the deciding thread when a method ends, so that the caller can measure its time.
  std::function<void(Reason, std::string_view consolidation_type)> method_done = {};
  std::shared_ptr<Memory> memory = {};
};

// A part of a command, which is carried out when the parts before it have been begun.
struct Step {
  std::vector<std::string> claims;        // NodeClaim names, sorted
  std::vector<std::size_t> replacements;  // of the command's: initialised before the claims go
  double savings = 0;                     // per hour
};

// Remove `claims`, each after the `replacements` that its pods need are initialised.
struct Command {
  Reason reason = Reason::Empty;
  std::vector<std::string> claims;  // NodeClaim names
  std::vector<scheduling::PlannedClaim> replacements;
  // Where the pods of `claims` are expected, virtual ones included.
  std::vector<scheduling::Placement> placements;
  double savings = 0;  // per hour; the overhead of nodes counts
  // What it costs, once, to move the pods (eviction_price.hpp). 0 for nodes that are empty.
  double eviction_price = 0;
  // In which order the claims go, each of them in one step. what_holds() fills it.
  std::vector<Step> steps = {};
  // "Underutilized: replace node a (c9.4xlarge.4) by c9.2xlarge.4, saving $0.41/h"
  std::string summary;
  // Of whoever carries it out: `command-id` in the log, a digest of what it was decided from, and
  // when that was, counted in NodeClaims that snapshots have come to show.
  std::string id = {};
  std::string inputs = {};
  std::uint64_t snapshot = 0;
};

// Karpenter's consolidation type: "empty", "multi", "single", or nothing for drift.
std::string_view consolidation_type(const Command& command);

// Machine-readable reason why a node stays. The message may vary while the cause is the same: it
// may name another pod or another time.
enum class Cause : std::uint8_t {
  // about the node
  NotInitialized,
  SharesMachine,
  NoNodePool,
  TypesUnknown,
  DoNotDisrupt,
  Nominated,
  RoomKept,
  Fenced,
  InDoubt,
  WriteFailed,
  NodeTooYoung,
  TooFull,
  // about its pods
  PodsKeepIt,
  PodsHaveNoPlace,
  PodsNeedUnreadyNode,
  PodsStayAway,  // nobody would create them again
  PodsTooYoung,
  OthersNeedRoom,
  // about its pool
  FixedSize,
  WithinConsolidateAfter,
  ConsolidationOff,
  OnlyWhenEmpty,
  BufferRoom,
  Budget,
  OutsideWindows,
  ReplacementUnderWay,
  NodeLimit,
  // about money
  NotPriced,
  ManyReplacements,
  NotCheaper,
  SavesTooLittle,
  SpotToSpotOff,
  FewSpotTypes,
  SameType,
  WorkLost,  // by Jobs
  Unbalanced,
};
std::string_view to_string(Cause cause);  // "NotCheaper"
// The smallest change by a person that ends this cause: "raise a budget in ...". Another cause may
// keep the node then. Empty where time, other pods or prices end it, or the message says it.
std::string_view remedy_of(Cause cause);

struct Why {
  Cause cause;
  std::string message;  // one sentence: "Its node is nominated for a pending pod until ..."
};

enum class Kept : std::uint8_t {
  FromDisruption,     // it should go but cannot: Karpenter's event DisruptionBlocked
  FromConsolidation,  // it could be spared but nothing better was found: Unconsolidatable
  AsWanted,           // it should stay for now, so nobody is told
};

// Why a node stays.
struct Blocked {
  std::string claim;
  Kept kept = Kept::FromDisruption;
  Why why;
};

// A pool whose spec.disruption.budgets are the only thing that keeps one of its nodes.
struct SpentBudget {
  std::string node_pool;
  Reason reason = Reason::Empty;
  friend auto operator<=>(const SpentBudget&, const SpentBudget&) = default;
};

// How a pool with consolidationPolicy Balanced judged one possible move: the share of its cost that
// is saved divided by the share of its pods that is disturbed. Approved from 1/2 on.
struct Score {
  std::string node_pool;
  double value = 0;
  bool approved = false;
  std::vector<std::string> claims = {};  // that the move would remove, sorted
};
inline constexpr double kApprovedScore = 0.5;

struct Decisions {
  std::vector<Command> commands;
  std::vector<Blocked> blocked;              // sorted by claim
  std::vector<SpentBudget> spent_budgets;    // sorted
  std::vector<Score> scores;                 // in the order moves were looked at
  std::vector<ProtectedPod> protected_pods;  // on nodes that only their pods may keep
  // How many nodes could go if budgets and prices allowed it, by Reason.
  std::array<std::size_t, 3> eligible{};
  // When the decision may change without any event: a budget's schedule opens, consolidateAfter is
  // over.
  std::optional<base::TimePoint> next_check;
};

Decisions decide(const Input& input);

// What of the command is still right on a newer snapshot, looked at after its nodes are fenced and
// before anything is written: of empty nodes those that have stayed so; of any other command all of
// it, or nothing (no claims). With its steps.
Command what_holds(const Command& command, const Input& input);

// Whether the claim may carry the Consolidatable condition now; `next` is when it may begin to.
struct Consolidatable {
  bool value = false;
  std::optional<base::TimePoint> next;
};
Consolidatable consolidatable(const model::NodeClaim& claim, const model::NodePool& pool,
                              base::TimePoint now);
// NodePoolDrifted, RequirementsDrifted, or empty.
std::string drift_reason(const model::NodeClaim& claim, const model::NodePool& pool);
// InstanceTypeNotFound when the claim's type is no longer among `types`, or has no offering
// (available or not) in the claim's zone for its capacity type; else empty. As in Karpenter, a
// claim is not judged in its first hour, and an on-demand offering is enough for a claim on a
// reservation. An empty list proves nothing.
std::string sale_drift_reason(const model::NodeClaim& claim, const scheduling::InstanceTypes& types,
                              base::TimePoint now);

// Nodes of the pool that may be disrupted now for this reason, less those already going: by its
// budgets, and none outside its windows.
int allowed_disruptions(const model::NodePool& pool,
                        const std::vector<scheduling::NodeRecordPtr>& nodes, Reason reason,
                        base::TimePoint now);

}  // namespace millwright::disruption
