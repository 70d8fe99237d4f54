// The domains of a problem and who is in them before anything is placed: what zones there are,
// which of them each group counts, how many of its pods run in each.
#pragma once

#include "scheduling/compile/nodes/existing_nodes.hpp"
#include "scheduling/compile/pods/pod_classes.hpp"
#include "scheduling/compile/topology/topology_groups.hpp"
#include "scheduling/topology/host_tally.hpp"
#include "scheduling/values/ids.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millwright::scheduling {

// Domains of one key, by index.
using DomainSet = RowSet;

// In place of a domain's index.
inline constexpr std::int32_t kNoDomain = -1;       // a node without the label
inline constexpr std::int32_t kUnknownDomain = -2;  // the label is there, its value not decided

class TopologyKey {
 public:
  TopologyKey(std::string name, std::set<std::string> domains);
  const std::string& name() const { return name_; }
  const std::vector<std::string>& domains() const { return domains_; }  // sorted
  std::size_t size() const { return domains_.size(); }
  std::int32_t find(std::string_view domain) const;  // kNoDomain when it is not one
  // Those that the requirement admits.
  DomainSet admitted(const Requirement& requirement) const;

 private:
  std::string name_;
  std::vector<std::string> domains_;
};

// Where a group stands before anything is placed.
struct Census {
  // Domains whose least count a spread constraint compares with: those that pools can provide or
  // that nodes have, as far as the group's node filter lets them count.
  DomainSet eligible;
  std::vector<std::int32_t> selected;  // pods that the group selects, by domain
  std::vector<std::int32_t> owners;    // pods that require this anti-affinity, by domain
  std::int64_t total = 0;              // selected, hosts included
};

class Topology {
 public:
  Topology() = default;
  Topology(const Problem& problem, const PodClasses& pods, std::span<const PoolTemplate> pools,
           const ExistingNodes& nodes);

  // No pod to be placed is held to anything or kept out of anywhere.
  bool empty() const { return groups_ == nullptr; }
  const ById<TopologyGroupId, TopologyGroup>& groups() const { return groups_->groups(); }
  const ById<KeyId, TopologyKey>& keys() const { return keys_; }
  const Census& census(TopologyGroupId group) const { return census_[group]; }
  // Of an existing node.
  std::int32_t domain_of(KeyId key, NodeId node) const { return node_domains_[key][node]; }
  // What a node whose domain is unknown may turn out to have; null when that is not known either.
  const DomainSet* possible_domains(KeyId key, NodeId node) const;
  // Whether `admits` holds for the node's domain; for all that it may have while that is undecided.
  template <class Admits>
  bool whatever_domain(KeyId key, NodeId node, Admits admits) const {
    const std::int32_t domain = domain_of(key, node);
    if (domain != kUnknownDomain) {
      return admits(domain);
    }
    const DomainSet* possible = possible_domains(key, node);
    bool all = possible != nullptr;
    if (all) {
      possible->for_each(
          [&](std::size_t each) { all = all && admits(static_cast<std::int32_t>(each)); });
    }
    return all;
  }
  const ById<NodeId, HostTally>& hosts() const { return hosts_; }

 private:
  void find_domains(const Problem& problem, std::span<const PoolTemplate> pools);
  void find_eligible(const Problem& problem, std::span<const PoolTemplate> pools);
  void place_nodes(const ExistingNodes& nodes);
  void count_pods(const Problem& problem, const ExistingNodes& nodes);
  void count_pod(const model::Pod& pod, const NodeRecord& node, HostTally* tally);
  void count_kept(const KeptPods& kept, HostTally* tally);
  void count_carrier(const TopologyGroups::Carrier& carrier, HostTally* tally);

  std::shared_ptr<TopologyGroups> groups_;
  ById<KeyId, TopologyKey> keys_;
  ById<TopologyGroupId, Census> census_;
  ById<KeyId, ById<NodeId, std::int32_t>> node_domains_;
  std::map<std::pair<KeyId, NodeId>, DomainSet> possible_;
  ById<NodeId, HostTally> hosts_;
};

// Whether the filter counts a node with these labels.
bool counts_node(const NodeFilter& filter, const NodeRecord& node);

}  // namespace millwright::scheduling
