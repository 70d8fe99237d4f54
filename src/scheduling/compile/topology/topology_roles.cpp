#include "scheduling/compile/topology/topology_roles.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace millwright::scheduling {
namespace {

bool uses_own_labels(const model::PodSpec& spec) {
  const auto any_keys = [](const model::PodAffinityTerm& term) {
    return !term.match_label_keys.empty() || !term.mismatch_label_keys.empty();
  };
  const auto any_weighted = [&](const model::WeightedPodAffinityTerm& item) {
    return any_keys(item.term);
  };
  const model::Affinity& affinity = spec.affinity;
  return std::any_of(spec.topology_spread.begin(), spec.topology_spread.end(),
                     [](const auto& item) { return !item.match_label_keys.empty(); }) ||
         std::any_of(affinity.required_pod_affinity.begin(), affinity.required_pod_affinity.end(),
                     any_keys) ||
         std::any_of(affinity.required_pod_anti_affinity.begin(),
                     affinity.required_pod_anti_affinity.end(), any_keys) ||
         std::any_of(affinity.preferred_pod_affinity.begin(), affinity.preferred_pod_affinity.end(),
                     any_weighted) ||
         std::any_of(affinity.preferred_pod_anti_affinity.begin(),
                     affinity.preferred_pod_anti_affinity.end(), any_weighted);
}

// Equal numbers for pods with equal namespace and labels.
class Identities {
 public:
  std::uint32_t of(const model::Pod& pod) {
    auto& bucket = by_hash_[hash_identity(pod.meta)];
    for (const auto& [example, id] : bucket) {
      if (same_identity(example->meta, pod.meta)) {
        return id;
      }
    }
    bucket.emplace_back(&pod, count_);
    return count_++;
  }

 private:
  std::unordered_map<std::uint64_t, std::vector<std::pair<const model::Pod*, std::uint32_t>>>
      by_hash_;
  std::uint32_t count_ = 0;
};

}  // namespace

TopologyRoles::TopologyRoles(const Problem& problem) : distinct_(1) {
  const auto says = [](const PodPtr& pod) { return has_topology(pod->spec); };
  const auto keeps_others_out = [](const PodPtr& pod) {
    return pod != nullptr && !pod->spec.affinity.required_pod_anti_affinity.empty();
  };
  const auto has_such = [&](const NodeRecordPtr& node) {
    return std::any_of(node->pods.begin(), node->pods.end(), keeps_others_out);
  };
  const auto waits_for_such = [&](const KeptRoom& kept) { return keeps_others_out(kept.sample); };
  const auto& nodes = counted_nodes(problem);
  if (std::any_of(problem.pods.begin(), problem.pods.end(), says) ||
      std::any_of(problem.kept.begin(), problem.kept.end(), waits_for_such) ||
      std::any_of(nodes.begin(), nodes.end(), has_such)) {
    groups_ = std::make_shared<TopologyGroups>(problem);
  }
}

void TopologyRoles::assign(std::span<const model::Pod* const> pods,
                           std::span<const std::uint32_t> specs) {
  if (!groups_) {
    return;
  }
  Identities identities;
  // By spec, namespace and (where they are part of a selector) labels.
  std::map<std::tuple<std::uint32_t, std::string_view, std::uint32_t>, PodTopology> held;
  std::vector<const PodTopology*> held_by_pod;
  std::vector<std::uint32_t> identity;
  const PodTopology nothing;
  for (std::size_t i = 0; i < pods.size(); ++i) {
    const model::Pod& pod = *pods[i];
    identity.push_back(identities.of(pod));
    if (!has_topology(pod.spec)) {
      held_by_pod.push_back(&nothing);
      continue;
    }
    const auto [found, added] = held.try_emplace(
        {specs[i], pod.meta.namespace_, uses_own_labels(pod.spec) ? identity[i] : 0});
    if (added) {
      found->second = groups_->hold(pod);
    }
    held_by_pod.push_back(&found->second);
  }
  std::unordered_map<std::uint64_t, std::uint32_t> by_spec_and_identity;
  std::map<
      std::tuple<const PodTopology*, std::vector<TopologyGroupId>, std::vector<TopologyGroupId>>,
      std::uint32_t>
      by_content;
  for (std::size_t i = 0; i < pods.size(); ++i) {
    const std::uint64_t key = (std::uint64_t{specs[i]} << 32) | identity[i];
    const auto [found, added] = by_spec_and_identity.try_emplace(key, 0U);
    if (added) {
      TopologyRole role = make(*pods[i], *held_by_pod[i]);
      const auto [known, is_new] =
          by_content.try_emplace({held_by_pod[i], role.counted, role.repelling},
                                 static_cast<std::uint32_t>(distinct_.size()));
      if (is_new) {
        distinct_.push_back(std::move(role));
      }
      found->second = known->second;
    }
    roles_.push_back(found->second);
  }
}

TopologyRole TopologyRoles::make(const model::Pod& pod, const PodTopology& held) {
  TopologyRole role{.held = held};
  for (const TopologyGroupId group : groups_->selecting(pod)) {
    if (groups_->groups()[group].constrains) {
      role.counted.push_back(group);
    }
    if (groups_->groups()[group].repels) {
      role.repelling.push_back(group);
    }
  }
  return role;
}

bool Constraint::counts_for(TopologyGroupId group) const {
  return std::binary_search(counted.begin(), counted.end(), group);
}

void sort_groups_by_key(Constraint& constraint,
                        const ById<TopologyGroupId, TopologyGroup>& groups) {
  const auto note_keys = [&](const std::vector<TopologyGroupId>& ids) {
    for (const TopologyGroupId id : ids) {
      if (!groups[id].by_host) {
        constraint.keys.push_back(groups[id].key_id);
      }
    }
  };
  note_keys(constraint.counted);
  note_keys(constraint.repelling);
  for (Rung& rung : constraint.ladder) {
    constraint.held = constraint.held || !rung.groups.empty();
    note_keys(rung.groups);
    for (const TopologyGroupId id : rung.groups) {
      if (groups[id].by_host) {
        rung.on_host.push_back(id);
        continue;
      }
      auto keyed = std::find_if(rung.keyed.begin(), rung.keyed.end(),
                                [&](const auto& item) { return item.key == groups[id].key_id; });
      if (keyed == rung.keyed.end()) {
        keyed = rung.keyed.insert(keyed, {groups[id].key_id, {}});
      }
      keyed->groups.push_back(id);
    }
  }
  std::sort(constraint.keys.begin(), constraint.keys.end());
  constraint.keys.erase(std::unique(constraint.keys.begin(), constraint.keys.end()),
                        constraint.keys.end());
}

}  // namespace millwright::scheduling
