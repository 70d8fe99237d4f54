// The planner: which pod goes where and what to buy for the rest. Pure and deterministic: the order
// of the input does not matter. Semantics are those of Karpenter's provisioning scheduler.
//
// Decided: resources (DaemonSets included), taints, host ports, node affinity, topology spread (the
// defaults of a scheduler configuration too), pod affinity and anti-affinity with the relaxation
// ladder of their preferred forms, NodePool weights and limits, minValues, reservations, volume
// zones and attach limits, of machines to buy too; resource claims (DRA) where the options say so.
#pragma once

#include "millwright/scheduling/default_spread.hpp"
#include "millwright/scheduling/snapshot.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace millwright::scheduling {

enum class PreferencePolicy : std::uint8_t { Respect, Ignore };
enum class MinValuesPolicy : std::uint8_t { Strict, BestEffort };

struct PoolOption {
  std::shared_ptr<const model::NodePool> pool;
  InstanceTypes types;
  // What each of its nodes costs per hour beside its instance. The cheapest plan counts it; prices
  // in plans are without it.
  double node_overhead = 0;
  // Claims list no instance type that costs more than so many times the cheapest one, unless
  // minValues asks for it. 0: they list all that hold their pods, as with Karpenter.
  double max_price_ratio = 0;
};

struct SolveOptions {
  PreferencePolicy preferences = PreferencePolicy::Respect;
  MinValuesPolicy min_values = MinValuesPolicy::Strict;
  std::size_t max_instance_types = 600;
  // What kube-scheduler holds pods to that have no spread constraints of their own.
  std::vector<DefaultSpread> default_spread;
  // Place pods with resource claims (DRA), by the devices that nodes have. Without it they are
  // refused, as by Karpenter unless --ignore-dra-requests=false.
  bool resource_claims = false;
  // Devices of nodes that are still to come, where no node of their type has published any.
  // nullptr: none.
  std::shared_ptr<const std::vector<model::DeviceTemplate>> device_templates;
  // Look for a cheaper plan than Karpenter's single pass finds: other orders of pods, claims kept
  // to one price level, two machines in place of one that would be half empty.
  bool economise = true;
  // How much work may be spent on finding pods their places: a look of a pod at a node is one. That
  // is some ten seconds of a machine. Pods that come when it is spent are left for the next plan,
  // see Refusal::postponed. Karpenter ends its Solve after a minute.
  std::uint64_t allowance = 2'000'000'000;
};

// Room that is promised already, on a node or on a claim in flight.
struct KeptRoom {
  std::string target;  // a name
  // A pod of the problem that goes there again if it still fits; empty: room for others, which is
  // not given away.
  std::string pod_uid;
  model::ResourceList requests;
  VolumeCounts volumes{};  // that those others will attach
  // So many of those others, all like this one: spread and affinity count them as if they were
  // there. nullptr: they count for nothing.
  PodPtr sample{};
  std::int32_t pods = 0;
};

struct Problem {
  // Any order. Pools that are deleting, not Ready or of fixed size are passed over.
  std::vector<PoolOption> pools;
  std::vector<NodeRecordPtr> nodes;  // capacity that exists or is in flight, removals left out
  // What counts against limits: the nodes of the pools, without those to be replaced. Nodes whose
  // NodeClaim is being deleted count for nothing, as in Karpenter.
  std::vector<NodeRecordPtr> counted_nodes;
  std::vector<PodPtr> pods;    // to be placed
  std::vector<KeptRoom> kept;  // earlier promises
  // Bound pods that will go to such room: spread and affinity do not count them where they are.
  std::vector<PodPtr> departing;
  std::vector<std::shared_ptr<const model::DaemonSet>> daemon_sets;
  SolveOptions options;
  // All of it: volumes, namespaces and bound pods matter for topology and for what volumes need.
  SnapshotPtr cluster;
};

// One NodeClaim to create. `instance_types` are the options, cheapest first.
struct PlannedClaim {
  std::string node_pool;
  SharedList<std::string> instance_types;
  Requirements requirements;     // spec.requirements, instance-type and capacity-type included
  model::ResourceList requests;  // spec.resources.requests, DaemonSet overhead included
  model::StringMap labels;
  model::StringMap annotations;
  std::vector<std::string> pod_uids;  // in the order they were placed
  double price = 0;                   // of the cheapest option, per hour
  // Against its NodePool's limits, in the resources that they name, `nodes` among them. Both are
  // empty where there are no limits.
  model::ResourceList limit_charge;  // until it is launched: the largest of its options
  model::ResourceList limit_left;    // when the whole plan is bought
};

struct Placement {
  std::string pod_uid;
  // The name of an existing node or claim, or the index into Plan::claims.
  std::variant<std::string, std::size_t> target;
  // From 1. Pods bound in this order break no rule about other pods on the way: the pod that
  // another wants to be beside comes before it.
  std::uint32_t step = 0;
};

// A part of a remedy, for a program that tries it out.
struct Change {
  enum class Kind : std::uint8_t {
    Tolerate,      // the pod tolerates `taint`
    LowerRequest,  // the pod asks for at most `amount` of resource `key`; zero: for none
    RaiseLimit,    // the limit of `node_pool` for resource `key` is `amount`
    AllowValue,    // `node_pool` allows `value` for the label `key`, too
  };
  Kind kind = Kind::Tolerate;
  std::string node_pool{};
  std::string key{};
  std::string value{};
  model::Quantity amount{};
  model::Taint taint{};
  friend bool operator==(const Change&, const Change&) = default;
};

struct Refusal {
  std::string pod_uid;
  std::string reason;  // the one true reason, for the pod's event
  std::string remedy;  // the smallest change that would place it; may be empty
  // The same for a program; empty where some part of it is more than these changes can say.
  std::vector<Change> changes{};
  // The plan's allowance was spent before it was the pod's turn. A plan for the pods that are left
  // goes on from there; at least one pod of each plan finds a place if any does.
  bool postponed = false;
};

struct Plan {
  std::vector<PlannedClaim> claims;
  std::vector<Placement> placements;  // sorted by pod uid
  std::vector<Refusal> refusals;      // sorted by pod uid
};

Plan solve(const Problem& problem);

// How many of its refusals are postponed.
std::size_t count_postponed(const Plan& plan);

// Effective requests as kube-scheduler counts them: containers, init containers, sidecars,
// pod-level resources, overhead, in-place resize; plus pods: 1.
model::ResourceList effective_requests(const model::Pod& pod);

// Reported unschedulable, bound and nominated nowhere, not a DaemonSet's or a node's own, alive,
// and not opted out by asking for nodes of no NodePool.
bool is_provisionable(const model::Pod& pod);
// Counts again when its node goes: not a DaemonSet's, not a mirror, active or a StatefulSet's.
bool is_reschedulable(const model::Pod& pod);
// A controller creates another pod when this one is evicted. Nobody does for a bare pod: it counts
// as work on its node, but room bought for it elsewhere would stay empty.
bool has_successor(const model::Pod& pod);

// A NodeClaim object (no name, generateName "<pool>-") for a planned claim.
model::NodeClaim to_node_claim(const PlannedClaim& claim, const model::NodePool& pool);

}  // namespace millwright::scheduling
