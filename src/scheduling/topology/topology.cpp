#include "scheduling/topology/topology.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace millwright::scheduling {
namespace {

// Values of the key that nodes of the pool may have: those of its instance types as far as its own
// requirements admit them, and whatever those requirements list.
std::set<std::string> domains_of(const PoolTemplate& pool, const std::string& key) {
  std::set<std::string> result;
  const Requirement wanted = pool.requirements.get(key);
  if (wanted.op() == model::Operator::In) {
    result.insert(wanted.values().begin(), wanted.values().end());
  }
  for (const std::string_view value : pool.table->values(key)) {
    if (wanted.has(value)) {
      result.emplace(value);
    }
  }
  return result;
}

// Where new nodes of a pool may be, under one key.
class NewDomains {
 public:
  NewDomains(const PoolTemplate& pool, const TopologyKey& key)
      : pool_(pool), key_(key), all_(key.size()) {
    for (const std::string& domain : domains_of(pool, key.name())) {
      all_.insert(static_cast<std::size_t>(key.find(domain)));
    }
  }

  // Of nodes that the filter's affinity counts.
  DomainSet counted_by(const NodeFilter& filter) {
    if (filter.alternatives.empty() || all_.empty()) {
      return all_;
    }
    DomainSet result(key_.size());
    for (const Requirements& wanted : filter.alternatives) {
      if (pool_.requirements.compatible(wanted, AllowUndefined::WellKnown)) {
        add_meeting(wanted, result);
      }
    }
    return result;
  }

 private:
  struct Domain {
    std::size_t index;
    RowSet rows;  // of types that the pool admits and that are sold there
  };

  void add_meeting(const Requirements& wanted, DomainSet& result) {
    const RowSet rows = pool_.table->admitted(wanted);
    const Requirement admitted = wanted.get(key_.name());
    for (const Domain& domain : domains()) {
      if (admitted.has(key_.domains()[domain.index]) && domain.rows.intersects(rows)) {
        result.insert(domain.index);
      }
    }
  }

  // Worked out when it is first asked for: most groups count all nodes.
  const std::vector<Domain>& domains() {
    if (domains_.empty()) {
      const RowSet rows = pool_.table->admitted(pool_.requirements);
      all_.for_each([&](std::size_t index) {
        domains_.push_back({index, rows & pool_.table->admitted(Requirement::in(
                                              key_.name(), {key_.domains()[index]}))});
      });
    }
    return domains_;
  }

  const PoolTemplate& pool_;
  const TopologyKey& key_;
  DomainSet all_;
  std::vector<Domain> domains_;
};

const std::string* label_of(const NodeRecord& node, const std::string& key) {
  const auto& labels = node.labels();
  const auto found = labels.find(key);
  return found == labels.end() ? nullptr : &found->second;
}

// Where the node is; where it may come to be while it is a claim that leaves that open.
DomainSet possible_domains_of(const NodeRecord& node, const TopologyKey& key) {
  if (const auto* label = label_of(node, key.name())) {
    DomainSet only(key.size());
    if (const std::int32_t domain = key.find(*label); domain != kNoDomain) {
      only.insert(static_cast<std::size_t>(domain));
    }
    return only;
  }
  return node.claim == nullptr || node.node != nullptr
             ? DomainSet(key.size())
             : key.admitted(Requirements(node.claim->requirements).get(key.name()));
}

}  // namespace

TopologyKey::TopologyKey(std::string name, std::set<std::string> domains)
    : name_(std::move(name)), domains_(domains.begin(), domains.end()) {}

std::int32_t TopologyKey::find(std::string_view domain) const {
  const auto found = std::lower_bound(domains_.begin(), domains_.end(), domain);
  return found == domains_.end() || *found != domain
             ? kNoDomain
             : static_cast<std::int32_t>(found - domains_.begin());
}

DomainSet TopologyKey::admitted(const Requirement& requirement) const {
  DomainSet result(domains_.size());
  for (std::size_t i = 0; i < domains_.size(); ++i) {
    if (requirement.has(domains_[i])) {
      result.insert(i);
    }
  }
  return result;
}

bool counts_node(const NodeFilter& filter, const NodeRecord& node) {
  if (filter.everything()) {
    return true;
  }
  if (filter.heeds_taints && !filter.tolerates(node.taints())) {
    return false;
  }
  const auto meets = [&](const Requirement& want) {
    const std::string* label = label_of(node, want.key());
    if (label == nullptr && want.key() == model::kHostnameLabel) {
      return want.has(node.name());
    }
    return label == nullptr ? want.admits_absence() : want.has(*label);
  };
  return filter.alternatives.empty() ||
         std::any_of(
             filter.alternatives.begin(), filter.alternatives.end(),
             [&](const Requirements& all) { return std::all_of(all.begin(), all.end(), meets); });
}

Topology::Topology(const Problem& problem, const PodClasses& pods,
                   std::span<const PoolTemplate> pools, const ExistingNodes& nodes) {
  if (!pods.topology) {
    return;
  }
  groups_ = pods.topology;
  census_.resize(groups().size());
  find_domains(problem, pools);
  find_eligible(problem, pools);
  place_nodes(nodes);
  count_pods(problem, nodes);
}

void Topology::find_domains(const Problem& problem, std::span<const PoolTemplate> pools) {
  for (const std::string& key : groups_->keys()) {
    std::set<std::string> domains;
    for (const PoolTemplate& pool : pools) {
      domains.merge(domains_of(pool, key));
    }
    for (const auto* nodes : {&counted_nodes(problem), &problem.nodes}) {
      for (const auto& node : *nodes) {
        if (const auto* label = label_of(*node, key)) {
          domains.insert(*label);
        }
      }
    }
    keys_.emplace_back(key, std::move(domains));
  }
  for (TopologyGroupId group; group < groups().end_id(); ++group) {
    if (!groups()[group].by_host) {
      const std::size_t count = keys_[groups()[group].key_id].size();
      census_[group] = {DomainSet(count), std::vector<std::int32_t>(count, 0),
                        std::vector<std::int32_t>(count, 0)};
    }
  }
}

void Topology::find_eligible(const Problem& problem, std::span<const PoolTemplate> pools) {
  std::map<std::pair<KeyId, const PoolTemplate*>, NewDomains> provided;
  for (TopologyGroupId id; id < groups().end_id(); ++id) {
    const TopologyGroup& group = groups()[id];
    if (group.kind != TopologyKind::Spread || group.by_host) {
      continue;
    }
    const TopologyKey& key = keys_[group.key_id];
    DomainSet& eligible = census_[id].eligible;
    for (const PoolTemplate& pool : pools) {
      if (group.filter.tolerates(pool.taints)) {
        eligible |= provided.try_emplace({group.key_id, &pool}, pool, key)
                        .first->second.counted_by(group.filter);
      }
    }
    for (const auto& node : counted_nodes(problem)) {
      const auto* label = label_of(*node, key.name());
      if (label != nullptr && counts_node(group.filter, *node)) {
        eligible.insert(static_cast<std::size_t>(key.find(*label)));
      }
    }
  }
}

void Topology::place_nodes(const ExistingNodes& nodes) {
  hosts_.resize(nodes.nodes().size());
  for (KeyId id; id < keys_.end_id(); ++id) {
    const TopologyKey& key = keys_[id];
    auto& domains = node_domains_.emplace_back();
    for (const ExistingNode& node : nodes.nodes()) {
      const auto* label = label_of(*node.record, key.name());
      if (!node.unlaunched) {
        domains.push_back(label != nullptr ? key.find(*label) : kNoDomain);
        continue;
      }
      // Whatever the claim leaves open is decided at launch.
      const Requirement values = node.guaranteed.get(key.name());
      const bool listed = values.op() == model::Operator::In;
      if (values.op() == model::Operator::DoesNotExist) {
        domains.push_back(kNoDomain);
      } else if (listed && values.values().size() == 1) {
        domains.push_back(key.find(values.values().front()));
      } else {
        if (DomainSet possible = key.admitted(values);
            listed && possible.count() == values.values().size()) {
          possible_.emplace(std::pair(id, domains.end_id()), std::move(possible));
        }
        domains.push_back(kUnknownDomain);
      }
    }
  }
}

const DomainSet* Topology::possible_domains(KeyId key, NodeId node) const {
  const auto found = possible_.find({key, node});
  return found == possible_.end() ? nullptr : &found->second;
}

void Topology::count_pods(const Problem& problem, const ExistingNodes& nodes) {
  std::unordered_map<std::string_view, HostTally*> tallies;
  for (NodeId node; node < nodes.nodes().end_id(); ++node) {
    tallies.emplace(nodes.nodes()[node].record->name(), &hosts_[node]);
  }
  const auto tally_of = [&](const NodeRecord& node) {
    const auto found = tallies.find(node.name());
    return found == tallies.end() ? nullptr : found->second;
  };
  const auto moving = moving_pods(problem);
  for (const auto& node : counted_nodes(problem)) {
    HostTally* tally = tally_of(*node);
    for (const auto& pod : node->pods) {
      if (!model::is_terminal(*pod) && !moving.contains(pod->meta.uid)) {
        count_pod(*pod, *node, tally);
      }
    }
  }
  for (const KeptPods& kept : kept_pods(problem)) {
    count_kept(kept, tally_of(*kept.node));
  }
  for (const auto& carrier : groups_->carriers()) {
    count_carrier(carrier, tally_of(*carrier.node));
  }
}

void Topology::count_carrier(const TopologyGroups::Carrier& carrier, HostTally* tally) {
  const TopologyGroup& group = groups()[carrier.group];
  if (!group.by_host) {
    auto& owners = census_[carrier.group].owners;
    possible_domains_of(*carrier.node, keys_[group.key_id]).for_each([&](std::size_t domain) {
      ++owners[domain];
    });
  } else if (tally != nullptr) {
    tally->add_owner(carrier.group);
  }
}

// Nobody can count on company whose domain is open; but it may be in any.
void Topology::count_kept(const KeptPods& kept, HostTally* tally) {
  for (const TopologyGroupId id : groups_->selecting(*kept.sample)) {
    const TopologyGroup& group = groups()[id];
    if (!group.constrains || !counts_node(group.filter, *kept.node)) {
      continue;
    }
    Census& census = census_[id];
    if (group.by_host) {
      census.total += kept.count;
      for (std::int32_t i = 0; tally != nullptr && i < kept.count; ++i) {
        tally->add_selected(id);
      }
      continue;
    }
    const DomainSet possible = possible_domains_of(*kept.node, keys_[group.key_id]);
    census.total += possible.empty() ? 0 : kept.count;
    if (possible.count() == 1 || group.kind == TopologyKind::AntiAffinity) {
      possible.for_each([&](std::size_t domain) { census.selected[domain] += kept.count; });
    }
  }
}

void Topology::count_pod(const model::Pod& pod, const NodeRecord& node, HostTally* tally) {
  for (const TopologyGroupId id : groups_->selecting(pod)) {
    const TopologyGroup& group = groups()[id];
    // A pod on its way out keeps others away until it is gone; nobody can count on it.
    if (!group.constrains || !counts_node(group.filter, node) ||
        (pod.meta.is_deleting() && group.kind != TopologyKind::AntiAffinity)) {
      continue;
    }
    const auto* label = label_of(node, group.key);
    if (group.by_host) {
      ++census_[id].total;
      if (tally != nullptr) {
        tally->add_selected(id);
      }
    } else if (label != nullptr) {
      ++census_[id].total;
      ++census_[id].selected[static_cast<std::size_t>(keys_[group.key_id].find(*label))];
    }
  }
}

}  // namespace millwright::scheduling
