// Karpenter's kinds as Millwright decides on them: NodePool, NodeClaim, and any cloud's NodeClass.
// The schema module has the rules of fields and their defaults; these structs only carry values.
#pragma once

#include "millwright/model/meta.hpp"
#include "millwright/model/resources.hpp"
#include "millwright/model/selector.hpp"
#include "millwright/model/taints.hpp"

#include <boost/json/value.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace millwright::model {

// A duration or "Never", in the text it was written with ("720h" stays "720h", not "30d").
struct NillableDuration {
  std::string text;  // empty when absent
  friend bool operator==(const NillableDuration&, const NillableDuration&) = default;
  // nullopt when absent, "Never" or unreadable.
  std::optional<base::Duration> value() const;
};

struct NodeClass;
struct Resource;

// The identity of a NodeClass, and how NodePools and NodeClaims name it. Two API groups may have a
// kind of the same name, so a class is known by all three. Each is required, as in Karpenter v1: a
// reference without a group names no class, and no group is guessed for it. The objects that legacy
// kinds are translated to have theirs.
struct NodeClassReference {
  std::string group;
  std::string kind;
  std::string name;
  friend auto operator<=>(const NodeClassReference&, const NodeClassReference&) = default;
  // "<group>/<lower-case kind>": the label key that names the NodeClass on claims and nodes.
  std::string label_key() const;
  // "<kind>.<group>/<name>", for people and as a key of queues.
  std::string text() const;
  // The group and the kind are the resource's.
  bool is_of(const Resource& resource) const;
};

NodeClassReference reference_to(const NodeClass& node_class);

struct NodeClaimTemplate {
  // Optional so that "present but empty" is kept: it changes the NodePool hash.
  std::optional<StringMap> labels;
  std::optional<StringMap> annotations;
  std::optional<std::vector<Taint>> taints;
  std::optional<std::vector<Taint>> startup_taints;
  std::vector<SelectorRequirement> requirements;
  NodeClassReference node_class_ref;
  NillableDuration termination_grace_period;
  NillableDuration expire_after;
  friend bool operator==(const NodeClaimTemplate&, const NodeClaimTemplate&) = default;
};

struct DisruptionBudget {
  std::string nodes = "10%";         // count or percentage
  std::vector<std::string> reasons;  // empty: all reasons
  std::string schedule;              // cron, UTC; empty: always
  std::string duration;
  friend bool operator==(const DisruptionBudget&, const DisruptionBudget&) = default;
};

struct NodePool {
  ObjectMeta meta;
  NodeClaimTemplate template_;
  NillableDuration consolidate_after{"0s"};
  std::string consolidation_policy = "WhenEmptyOrUnderutilized";
  std::vector<DisruptionBudget> budgets{DisruptionBudget{}};
  std::optional<ResourceList> limits;
  std::int32_t weight = 0;
  std::optional<std::int64_t> replicas;
  // status
  ResourceList resources;
  std::int64_t nodes = 0;
  std::int64_t node_class_observed_generation = 0;
  std::vector<Condition> conditions;
  friend bool operator==(const NodePool&, const NodePool&) = default;
};

struct NodeClaim {
  ObjectMeta meta;
  std::vector<Taint> taints;
  std::vector<Taint> startup_taints;
  std::vector<SelectorRequirement> requirements;
  ResourceList requests;
  NodeClassReference node_class_ref;
  NillableDuration termination_grace_period;
  NillableDuration expire_after;
  // status
  std::string node_name;
  std::string provider_id;
  std::string image_id;
  ResourceList capacity;
  ResourceList allocatable;
  std::optional<base::TimePoint> last_pod_event_time;
  std::vector<Condition> conditions;
  friend bool operator==(const NodeClaim&, const NodeClaim&) = default;
};

// Any NodeClass of any cloud. Its spec stays JSON here; only the provider reads it.
struct NodeClass {
  ObjectMeta meta;
  std::string api_version;
  std::string kind;
  boost::json::value spec;
  std::vector<Condition> conditions;
  boost::json::value status;
};

// karpenter.sh/v1alpha5 Provisioner and karpenter.k8s.aws/v1alpha1 AWSNodeTemplate have no structs:
// controllers/legacy translates their JSON.

// Decimal text of the v3 static-drift hash of spec.template, bit for bit as Karpenter computes it.
std::string nodepool_hash(const NodeClaimTemplate& node_claim_template);
inline constexpr std::string_view kNodePoolHashVersion = "v3";

// A drift hash as two annotations say it: on the object that it was made of, and on NodeClaims that
// were made by it. Hashes of different versions cannot be compared.
struct HashStamp {
  std::string key;  // of the annotation: "karpenter.sh/nodepool-hash"
  std::string version_key;
  std::string hash;
  std::string version;
  // By earlier version: the hash that it gives, for those that are known.
  StringMap earlier;
  friend bool operator==(const HashStamp&, const HashStamp&) = default;
};
// Whether an object has such a stamp, of the same version, and it is of something else.
bool is_stamped_otherwise(const ObjectMeta& meta, const HashStamp& stamp);

// Condition types.
inline constexpr std::string_view kReady = "Ready";
inline constexpr std::string_view kLaunched = "Launched";
inline constexpr std::string_view kRegistered = "Registered";
inline constexpr std::string_view kInitialized = "Initialized";
inline constexpr std::string_view kConsolidatable = "Consolidatable";
inline constexpr std::string_view kDrifted = "Drifted";
inline constexpr std::string_view kDrained = "Drained";
inline constexpr std::string_view kVolumesDetached = "VolumesDetached";
inline constexpr std::string_view kInstanceTerminating = "InstanceTerminating";
inline constexpr std::string_view kConsistentStateFound = "ConsistentStateFound";
inline constexpr std::string_view kDisruptionReason = "DisruptionReason";
inline constexpr std::string_view kValidationSucceeded = "ValidationSucceeded";
inline constexpr std::string_view kNodeClassReady = "NodeClassReady";
inline constexpr std::string_view kNodeRegistrationHealthy = "NodeRegistrationHealthy";

}  // namespace millwright::model
