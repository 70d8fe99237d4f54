#include "scheduling/compile/topology/topology_groups.hpp"

#include "scheduling/values/signature.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace millwright::scheduling {
namespace {

using model::Operator;

bool is_valid(const model::LabelSelector& selector) {
  return std::all_of(selector.match_expressions.begin(), selector.match_expressions.end(),
                     [](const model::SelectorRequirement& item) {
                       const bool valued = item.op == Operator::In || item.op == Operator::NotIn;
                       const bool bare =
                           item.op == Operator::Exists || item.op == Operator::DoesNotExist;
                       return (valued && !item.values.empty()) || (bare && item.values.empty());
                     });
}

// The selector with "key In [the pod's own value]" for each of the keys that the pod has, which is
// what the API server writes into pod affinity terms itself.
void narrow(std::optional<model::LabelSelector>& selector, const std::vector<std::string>& keys,
            Operator op, const model::Pod& pod) {
  for (const std::string& key : keys) {
    const auto label = pod.meta.labels.find(key);
    if (selector && label != pod.meta.labels.end()) {
      selector->match_expressions.push_back({key, op, {label->second}, {}});
    }
  }
}

void append(std::string& text, const std::optional<model::LabelSelector>& selector) {
  if (!selector) {
    text.append("\x1c-");
    return;
  }
  for (const auto& [key, value] : selector->match_labels) {
    text.append("\x1c=").append(key).append(1, '\x1f').append(value);
  }
  for (const auto& item : selector->match_expressions) {
    text.append("\x1c~").append(item.key).append(1, '\x1f').append(model::to_string(item.op));
    for (const auto& value : item.values) {
      text.append(1, '\x1e').append(value);
    }
  }
}

std::string signature_of(const PodSelection& selection) {
  std::string text;
  for (const auto& part : selection.parts) {
    text.append(part.every_namespace ? "\x1b*" : "\x1b");
    for (const auto& name : part.namespaces) {
      text.append(1, '\x1e').append(name);
    }
    append(text, part.selector);
  }
  return text;
}

std::string signature_of(const TopologyGroup& group) {
  std::string text = std::to_string(static_cast<int>(group.kind)) + "\n" + group.key + "\n" +
                     std::to_string(group.max_skew) + "\n" +
                     std::to_string(group.min_domains.value_or(0)) + "\n";
  for (const Requirements& alternative : group.filter.alternatives) {
    append_signature(text.append("\x1a"), alternative);
  }
  if (group.filter.heeds_taints) {
    text.append("\x1a!");
    for (const auto& toleration : group.filter.tolerations) {
      text.append(1, '\x1e').append(toleration.key).append(1, '\x1f').append(toleration.op);
      text.append(1, '\x1f').append(toleration.value).append(1, '\x1f').append(toleration.effect);
    }
  }
  return text + signature_of(group.selection);
}

std::string label_index(std::string_view key, std::string_view value) {
  return std::string(key).append(1, '\x1f').append(value);
}

NodeFilter filter_of(const model::TopologySpreadConstraint& constraint, const model::PodSpec& pod) {
  NodeFilter filter;
  if (constraint.node_affinity_policy != "Ignore") {
    const auto base = Requirements::from_labels(pod.node_selector);
    for (const auto& term : pod.affinity.required_node_terms) {
      Requirements alternative = base;
      alternative.add(Requirements(term.match_expressions));
      filter.alternatives.push_back(std::move(alternative));
    }
    if (filter.alternatives.empty() && base.size() > 0) {
      filter.alternatives.push_back(base);
    }
  }
  // Nodes count only if they have the keys of all constraints that must hold.
  std::set<std::string_view> keys;
  for (const auto& other : pod.topology_spread) {
    if (other.when_unsatisfiable != "ScheduleAnyway" &&
        other.topology_key != constraint.topology_key &&
        other.topology_key != model::kHostnameLabel) {
      keys.insert(other.topology_key);
    }
  }
  if (!keys.empty() && filter.alternatives.empty()) {
    filter.alternatives.emplace_back();
  }
  for (Requirements& alternative : filter.alternatives) {
    for (const std::string_view key : keys) {
      alternative.add(Requirement(key, Operator::Exists));
    }
  }
  if (constraint.node_taints_policy == "Honor") {
    filter.heeds_taints = true;
    filter.tolerations = pod.tolerations;
  }
  return filter;
}

// Karpenter takes the first ScheduleAnyway constraint out by putting the last constraint in its
// place, again and again.
std::vector<std::size_t> optional_in_drop_order(
    const std::vector<model::TopologySpreadConstraint>& constraints) {
  std::vector<std::size_t> left(constraints.size());
  for (std::size_t i = 0; i < left.size(); ++i) {
    left[i] = i;
  }
  std::vector<std::size_t> dropped;
  for (;;) {
    const auto next = std::find_if(left.begin(), left.end(), [&](std::size_t i) {
      return constraints[i].when_unsatisfiable == "ScheduleAnyway";
    });
    if (next == left.end()) {
      return dropped;
    }
    dropped.push_back(*next);
    *next = left.back();
    left.pop_back();
  }
}

}  // namespace

bool PodSelection::selects(const model::Pod& pod) const {
  return std::all_of(parts.begin(), parts.end(), [&](const Part& part) {
    return part.selector &&
           (part.every_namespace || part.namespaces.contains(pod.meta.namespace_)) &&
           part.selector->matches(pod.meta.labels);
  });
}

bool NodeFilter::tolerates(const std::vector<model::Taint>& taints) const {
  return !heeds_taints || std::all_of(taints.begin(), taints.end(), [&](const auto& taint) {
    return taint.effect == "PreferNoSchedule" ||
           model::first_untolerated({&taint, 1}, tolerations) == nullptr;
  });
}

bool has_topology(const model::PodSpec& spec) {
  const model::Affinity& affinity = spec.affinity;
  return !spec.topology_spread.empty() || !affinity.required_pod_affinity.empty() ||
         !affinity.preferred_pod_affinity.empty() || !affinity.required_pod_anti_affinity.empty() ||
         !affinity.preferred_pod_anti_affinity.empty();
}

const std::vector<NodeRecordPtr>& counted_nodes(const Problem& problem) {
  return problem.cluster && !problem.cluster->nodes.empty() ? problem.cluster->nodes
                                                            : problem.nodes;
}

std::vector<KeptPods> kept_pods(const Problem& problem) {
  std::vector<KeptPods> result;
  std::unordered_map<std::string_view, const NodeRecord*> by_name;
  for (const KeptRoom& kept : problem.kept) {
    if (kept.sample == nullptr) {
      continue;
    }
    if (by_name.empty()) {
      for (const auto& node : counted_nodes(problem)) {
        by_name.emplace(node->name(), node.get());
        by_name.emplace(node->claim_name(), node.get());
      }
    }
    if (const auto node = by_name.find(kept.target); node != by_name.end()) {
      result.push_back({node->second, kept.sample.get(), kept.pods});
    }
  }
  return result;
}

std::set<std::string_view> moving_pods(const Problem& problem) {
  std::set<std::string_view> moving;
  for (const auto& pod : problem.pods) {
    if (!pod->spec.node_name.empty()) {
      moving.insert(pod->meta.uid);
    }
  }
  for (const auto& pod : problem.departing) {
    moving.insert(pod->meta.uid);
  }
  return moving;
}

std::uint64_t hash_identity(const model::ObjectMeta& meta) {
  std::uint64_t hash = std::hash<std::string_view>{}(meta.namespace_);
  for (const auto& [key, value] : meta.labels) {
    hash = (hash ^ std::hash<std::string_view>{}(key)) * 0xff51afd7ed558ccdULL;
    hash = (hash ^ std::hash<std::string_view>{}(value)) * 0x9e3779b97f4a7c15ULL;
    hash ^= hash >> 32;
  }
  return hash;
}

bool same_identity(const model::ObjectMeta& a, const model::ObjectMeta& b) {
  return a.namespace_ == b.namespace_ && a.labels == b.labels;
}

TopologyGroups::TopologyGroups(const Problem& problem)
    : cluster_(problem.cluster.get()), preferences_(problem.options.preferences) {
  const auto moving = moving_pods(problem);
  for (const auto& node : scheduling::counted_nodes(problem)) {
    for (const auto& pod : node->pods) {
      if (!moving.contains(pod->meta.uid)) {
        add_carrier(*node, *pod);
      }
    }
  }
  for (const KeptPods& kept : kept_pods(problem)) {
    add_carrier(*kept.node, *kept.sample);
  }
}

void TopologyGroups::add_carrier(const NodeRecord& node, const model::Pod& pod) {
  for (const auto& each : pod.spec.affinity.required_pod_anti_affinity) {
    const TopologyGroupId group = intern(term(TopologyKind::AntiAffinity, each, pod));
    groups_[group].repels = true;
    carriers_.push_back({&node, group});
  }
}

PodTopology TopologyGroups::hold(const model::Pod& pod) {
  PodTopology result;
  const auto held = [&](TopologyGroup group) {
    const TopologyGroupId id = intern(std::move(group));
    groups_[id].constrains = true;
    return id;
  };
  const model::Affinity& affinity = pod.spec.affinity;
  for (const auto& constraint : pod.spec.topology_spread) {
    if (constraint.when_unsatisfiable != "ScheduleAnyway") {
      result.required.push_back(held(spread(constraint, pod)));
    }
  }
  PodSelection all_terms;
  for (const auto& each : affinity.required_pod_affinity) {
    all_terms.parts.push_back(part(each, pod));
  }
  for (const auto& each : affinity.required_pod_affinity) {
    TopologyGroup group = term(TopologyKind::Affinity, each, pod);
    group.selection = all_terms;
    result.required.push_back(held(std::move(group)));
  }
  for (const auto& each : affinity.required_pod_anti_affinity) {
    const TopologyGroupId id = held(term(TopologyKind::AntiAffinity, each, pod));
    groups_[id].repels = true;
    result.required.push_back(id);
    result.required_anti.push_back(id);
  }
  if (preferences_ == PreferencePolicy::Ignore) {
    return result;
  }
  const auto heaviest_first = [](auto& items) {
    std::stable_sort(items.begin(), items.end(),
                     [](const auto& a, const auto& b) { return a.weight > b.weight; });
  };
  for (const auto& each : affinity.preferred_pod_affinity) {
    result.preferred_affinity.push_back(
        {each.weight, held(term(TopologyKind::Affinity, each.term, pod))});
  }
  for (const auto& each : affinity.preferred_pod_anti_affinity) {
    result.preferred_anti_affinity.push_back(
        {each.weight, held(term(TopologyKind::AntiAffinity, each.term, pod))});
  }
  heaviest_first(result.preferred_affinity);
  heaviest_first(result.preferred_anti_affinity);
  for (const std::size_t index : optional_in_drop_order(pod.spec.topology_spread)) {
    result.optional_spread.push_back(held(spread(pod.spec.topology_spread[index], pod)));
  }
  return result;
}

TopologyGroup TopologyGroups::spread(const model::TopologySpreadConstraint& constraint,
                                     const model::Pod& pod) const {
  TopologyGroup group{.kind = TopologyKind::Spread,
                      .key = constraint.topology_key,
                      .max_skew = std::max(constraint.max_skew, 1),
                      .min_domains = constraint.min_domains,
                      .filter = filter_of(constraint, pod.spec)};
  PodSelection::Part own{.namespaces = {pod.meta.namespace_},
                         .selector = constraint.label_selector};
  narrow(own.selector, constraint.match_label_keys, Operator::In, pod);
  group.selection.parts.push_back(std::move(own));
  return group;
}

TopologyGroup TopologyGroups::term(TopologyKind kind, const model::PodAffinityTerm& term,
                                   const model::Pod& pod) const {
  TopologyGroup group{.kind = kind, .key = term.topology_key};
  group.selection.parts.push_back(part(term, pod));
  return group;
}

PodSelection::Part TopologyGroups::part(const model::PodAffinityTerm& term,
                                        const model::Pod& pod) const {
  PodSelection::Part result{.selector = term.label_selector};
  narrow(result.selector, term.match_label_keys, Operator::In, pod);
  narrow(result.selector, term.mismatch_label_keys, Operator::NotIn, pod);
  result.namespaces.insert(term.namespaces.begin(), term.namespaces.end());
  if (!term.namespace_selector) {
    if (term.namespaces.empty()) {
      result.namespaces.insert(pod.meta.namespace_);
    }
    return result;
  }
  result.every_namespace = term.namespace_selector->empty();
  if (cluster_ != nullptr && is_valid(*term.namespace_selector)) {
    for (const auto& ns : cluster_->namespaces) {
      if (term.namespace_selector->matches(ns->meta.labels)) {
        result.namespaces.insert(ns->meta.name);
      }
    }
  }
  return result;
}

TopologyGroupId TopologyGroups::intern(TopologyGroup group) {
  for (auto& part : group.selection.parts) {
    if (part.selector && !is_valid(*part.selector)) {
      part.selector.reset();
    }
  }
  group.key = model::normalized_label_key(group.key);
  group.by_host = group.key == model::kHostnameLabel;
  const auto [found, added] = by_signature_.try_emplace(signature_of(group), groups_.end_id());
  if (!added) {
    return found->second;
  }
  group.selection_id =
      selections_
          .try_emplace(signature_of(group.selection), static_cast<std::uint32_t>(groups_.size()))
          .first->second;
  if (!group.by_host) {
    const auto key = std::find(keys_.begin(), keys_.end(), group.key);
    group.key_id = KeyId(static_cast<std::size_t>(key - keys_.begin()));
    if (key == keys_.end()) {
      keys_.push_back(group.key);
    }
  }
  groups_.push_back(std::move(group));
  return found->second;
}

void TopologyGroups::index_selections() {
  for (TopologyGroupId id; id < groups_.end_id(); ++id) {
    const auto& selector = groups_[id].selection.parts.front().selector;
    if (!selector) {
      continue;
    }
    if (selector->match_labels.empty()) {
      by_no_label_.push_back(id);
    } else {
      const auto& [key, value] = *selector->match_labels.begin();
      by_label_[label_index(key, value)].push_back(id);
    }
  }
  indexed_ = true;
}

const std::vector<TopologyGroupId>& TopologyGroups::selecting(const model::Pod& pod) {
  if (!indexed_) {
    index_selections();
  }
  auto& bucket = selecting_[hash_identity(pod.meta)];
  for (const auto& [example, groups] : bucket) {
    if (same_identity(example->meta, pod.meta)) {
      return groups;
    }
  }
  std::vector<TopologyGroupId> result;
  const auto look_at = [&](const std::vector<TopologyGroupId>& candidates) {
    for (const TopologyGroupId id : candidates) {
      if (groups_[id].selection.selects(pod)) {
        result.push_back(id);
      }
    }
  };
  look_at(by_no_label_);
  for (const auto& [key, value] : pod.meta.labels) {
    if (const auto found = by_label_.find(label_index(key, value)); found != by_label_.end()) {
      look_at(found->second);
    }
  }
  std::sort(result.begin(), result.end());
  return bucket.emplace_back(&pod, std::move(result)).second;
}

}  // namespace millwright::scheduling
