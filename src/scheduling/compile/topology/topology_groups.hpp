// Topology constraints as groups: every constraint with the same key, selector and terms is one
// group, whoever carries it, so that its pods are counted once (Karpenter's TopologyGroup;
// kube-scheduler's PodTopologySpread and InterPodAffinity).
#pragma once

#include "millwright/scheduling/pod_rules.hpp"
#include "millwright/scheduling/solve.hpp"
#include "scheduling/values/ids.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace millwright::scheduling {

// Pods of some namespaces whose labels match.
struct PodSelection {
  struct Part {
    std::set<std::string, std::less<>> namespaces;
    bool every_namespace = false;
    // Absent or invalid selectors select nothing.
    std::optional<model::LabelSelector> selector;
  };
  // A pod must be selected by each. Several only where a pod has several required affinity terms:
  // kube-scheduler counts pods that match all of them, for each of them.
  std::vector<Part> parts;

  bool selects(const model::Pod& pod) const;
};

// Which nodes' pods a spread constraint counts (nodeAffinityPolicy, nodeTaintsPolicy).
struct NodeFilter {
  std::vector<Requirements> alternatives;  // any of them; empty: every node
  bool heeds_taints = false;
  std::vector<model::Toleration> tolerations;  // looked at when taints are heeded

  bool everything() const { return alternatives.empty() && !heeds_taints; }
  bool tolerates(const std::vector<model::Taint>& taints) const;
  friend bool operator==(const NodeFilter&, const NodeFilter&) = default;
};

enum class TopologyKind : std::uint8_t { Spread, Affinity, AntiAffinity };

struct TopologyGroup {
  TopologyKind kind = TopologyKind::Spread;
  std::string key;
  bool by_host = false;  // the key is kubernetes.io/hostname: every node is a domain
  KeyId key_id;          // unless by_host
  PodSelection selection;
  std::uint32_t selection_id = 0;  // equal for equal selections
  std::int32_t max_skew = 1;
  std::optional<std::int32_t> min_domains;
  NodeFilter filter;
  bool constrains = false;  // some pod to be placed is held to it
  bool repels = false;      // anti-affinity that some pod, bound or to be placed, requires
};

// The groups that one pod is held to.
struct PodTopology {
  struct Weighted {
    std::int32_t weight = 0;
    TopologyGroupId group;
  };
  std::vector<TopologyGroupId> required;       // of every kind
  std::vector<TopologyGroupId> required_anti;  // those of them that keep others out too
  std::vector<Weighted> preferred_affinity;    // heaviest first
  std::vector<Weighted> preferred_anti_affinity;
  std::vector<TopologyGroupId> optional_spread;  // ScheduleAnyway, in the order they are dropped
};

class TopologyGroups {
 public:
  // A pod's required anti-affinity term, and the node it runs on or will.
  struct Carrier {
    const NodeRecord* node = nullptr;
    TopologyGroupId group;
  };

  // Takes in the anti-affinity of pods that run, those that are to be placed anew excepted, and of
  // those whose places are kept.
  explicit TopologyGroups(const Problem& problem);

  // Makes the groups that the pod is held to, if they are not there yet.
  PodTopology hold(const model::Pod& pod);
  // The groups that select the pod, ascending. To be asked once all pods are held.
  const std::vector<TopologyGroupId>& selecting(const model::Pod& pod);

  const ById<TopologyGroupId, TopologyGroup>& groups() const { return groups_; }
  const ById<KeyId, std::string>& keys() const { return keys_; }
  const std::vector<Carrier>& carriers() const { return carriers_; }

 private:
  void add_carrier(const NodeRecord& node, const model::Pod& pod);
  TopologyGroupId intern(TopologyGroup group);
  TopologyGroup spread(const model::TopologySpreadConstraint& constraint,
                       const model::Pod& pod) const;
  TopologyGroup term(TopologyKind kind, const model::PodAffinityTerm& term,
                     const model::Pod& pod) const;
  PodSelection::Part part(const model::PodAffinityTerm& term, const model::Pod& pod) const;
  void index_selections();

  const Snapshot* cluster_ = nullptr;
  PreferencePolicy preferences_;
  ById<TopologyGroupId, TopologyGroup> groups_;
  ById<KeyId, std::string> keys_;
  std::vector<Carrier> carriers_;
  std::map<std::string, TopologyGroupId> by_signature_;
  std::map<std::string, std::uint32_t> selections_;
  // Groups by a label that their selector wants, and those without such a label.
  std::unordered_map<std::string, std::vector<TopologyGroupId>> by_label_;
  std::vector<TopologyGroupId> by_no_label_;
  bool indexed_ = false;
  std::unordered_map<std::uint64_t,
                     std::vector<std::pair<const model::Pod*, std::vector<TopologyGroupId>>>>
      selecting_;
};

// Nodes whose pods count: all there are, also those that take no more pods.
const std::vector<NodeRecordPtr>& counted_nodes(const Problem& problem);
// Pods that are not there yet, though their places are kept.
struct KeptPods {
  const NodeRecord* node = nullptr;
  const model::Pod* sample = nullptr;
  std::int32_t count = 0;
};
// On nodes whose pods count.
std::vector<KeptPods> kept_pods(const Problem& problem);
// Pods that are bound already but are to be placed anew, or go to kept room.
std::set<std::string_view> moving_pods(const Problem& problem);
// Namespace and labels, all that a selection looks at.
std::uint64_t hash_identity(const model::ObjectMeta& meta);
bool same_identity(const model::ObjectMeta& a, const model::ObjectMeta& b);

}  // namespace millwright::scheduling
