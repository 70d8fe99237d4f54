// PodTopologySpread (hard constraints) and InterPodAffinity (required terms): the pod's own, and
// the anti-affinity of running pods against it.
#include "sandbox/scheduler/filters.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

namespace millwright::sandbox {

namespace {

const std::string* label(const model::Node& node, std::string_view key) {
  const auto found = node.meta.labels.find(key);
  return found == node.meta.labels.end() ? nullptr : &found->second;
}

// matchLabelKeys: the pod's own values of these keys narrow the selector.
model::LabelSelector narrowed(const std::optional<model::LabelSelector>& selector,
                              const std::vector<std::string>& keys, const model::Pod& pod) {
  auto result = selector.value_or(model::LabelSelector{});
  for (const auto& key : keys) {
    if (const auto found = pod.meta.labels.find(key); found != pod.meta.labels.end()) {
      result.match_labels[key] = found->second;
    }
  }
  return result;
}

bool in_namespaces(const model::PodAffinityTerm& term, const model::Pod& owner,
                   const model::Pod& other) {
  if (term.namespace_selector && term.namespace_selector->empty()) {
    return true;  // an empty selector means every namespace
  }
  if (term.namespaces.empty()) {
    return owner.meta.namespace_ == other.meta.namespace_;
  }
  return std::find(term.namespaces.begin(), term.namespaces.end(), other.meta.namespace_) !=
         term.namespaces.end();
}

bool term_matches(const model::PodAffinityTerm& term, const model::Pod& owner,
                  const model::Pod& other) {
  return term.label_selector && in_namespaces(term, owner, other) &&
         narrowed(term.label_selector, term.match_label_keys, owner).matches(other.meta.labels);
}

// Matching pods per value of a topology key.
using Counts = std::map<std::string, std::int64_t>;

struct Spread {
  model::TopologySpreadConstraint constraint;
  Counts counts;
  bool self = false;
  std::int64_t least = 0;
};

struct Affinity {
  model::PodAffinityTerm term;
  Counts counts;
  bool self = false;
};

}  // namespace

struct TopologyFilter::Impl {
  std::vector<Spread> spreads;
  std::vector<Affinity> affinity;
  std::vector<Affinity> anti_affinity;
  // Topology key and value pairs that a running pod's anti-affinity closes to this one.
  std::map<std::string, Counts> closed;

  void add_spread(const model::TopologySpreadConstraint& constraint, const model::Pod& pod,
                  const std::vector<const NodeInfo*>& nodes) {
    Spread spread;
    spread.constraint = constraint;
    const auto selector = narrowed(constraint.label_selector, constraint.match_label_keys, pod);
    spread.self = selector.matches(pod.meta.labels);
    for (const auto* info : nodes) {
      const auto* value = label(*info->node, constraint.topology_key);
      if (value == nullptr || !is_eligible(constraint, pod, *info->node)) {
        continue;
      }
      auto& count = spread.counts[*value];
      for (const auto& [uid, other] : info->pods) {
        count += other->meta.namespace_ == pod.meta.namespace_ && !other->meta.is_deleting() &&
                         selector.matches(other->meta.labels)
                     ? 1
                     : 0;
      }
    }
    spread.least = spread.counts.empty() ? 0 : std::numeric_limits<std::int64_t>::max();
    for (const auto& [value, count] : spread.counts) {
      spread.least = std::min(spread.least, count);
    }
    if (constraint.min_domains &&
        spread.counts.size() < static_cast<std::size_t>(*constraint.min_domains)) {
      spread.least = 0;
    }
    spreads.push_back(std::move(spread));
  }

  // nodeAffinityPolicy Honor (the default) and nodeTaintsPolicy Honor (not the default).
  static bool is_eligible(const model::TopologySpreadConstraint& constraint, const model::Pod& pod,
                          const model::Node& node) {
    if (constraint.node_affinity_policy != "Ignore" && !matches_node(pod, node)) {
      return false;
    }
    if (constraint.node_taints_policy != "Honor") {
      return true;
    }
    return std::all_of(node.taints.begin(), node.taints.end(), [&](const model::Taint& taint) {
      return taint.effect == "PreferNoSchedule" ||
             std::any_of(pod.spec.tolerations.begin(), pod.spec.tolerations.end(),
                         [&](const model::Toleration& t) { return t.tolerates(taint); });
    });
  }

  static Affinity count_term(const model::PodAffinityTerm& term, const model::Pod& pod,
                             const std::vector<const NodeInfo*>& nodes) {
    Affinity result{term, {}, term_matches(term, pod, pod)};
    for (const auto* info : nodes) {
      const auto* value = label(*info->node, term.topology_key);
      if (value == nullptr) {
        continue;
      }
      for (const auto& [uid, other] : info->pods) {
        if (term_matches(term, pod, *other)) {
          ++result.counts[*value];
        }
      }
    }
    return result;
  }

  void close_by_others(const model::Pod& pod, const std::vector<const NodeInfo*>& nodes) {
    for (const auto* info : nodes) {
      for (const auto& [uid, other] : info->pods) {
        for (const auto& term : other->spec.affinity.required_pod_anti_affinity) {
          const auto* value = label(*info->node, term.topology_key);
          if (value != nullptr && term_matches(term, *other, pod)) {
            ++closed[term.topology_key][*value];
          }
        }
      }
    }
  }
};

TopologyFilter::TopologyFilter(const model::Pod& pod, const std::vector<const NodeInfo*>& nodes)
    : impl_(std::make_unique<Impl>()) {
  for (const auto& constraint : pod.spec.topology_spread) {
    if (constraint.when_unsatisfiable != "ScheduleAnyway") {
      impl_->add_spread(constraint, pod, nodes);
    }
  }
  for (const auto& term : pod.spec.affinity.required_pod_affinity) {
    impl_->affinity.push_back(Impl::count_term(term, pod, nodes));
  }
  for (const auto& term : pod.spec.affinity.required_pod_anti_affinity) {
    impl_->anti_affinity.push_back(Impl::count_term(term, pod, nodes));
  }
  impl_->close_by_others(pod, nodes);
}

TopologyFilter::~TopologyFilter() = default;

std::vector<std::string> TopologyFilter::reasons(const NodeInfo& info) const {
  const auto& node = *info.node;
  for (const auto& spread : impl_->spreads) {
    const auto* value = label(node, spread.constraint.topology_key);
    if (value == nullptr) {
      return {"node(s) didn't match pod topology spread constraints (missing required label)"};
    }
    const auto found = spread.counts.find(*value);
    const auto count = found == spread.counts.end() ? 0 : found->second;
    if (count + (spread.self ? 1 : 0) - spread.least > spread.constraint.max_skew) {
      return {"node(s) didn't match pod topology spread constraints"};
    }
  }
  for (const auto& term : impl_->affinity) {
    const auto* value = label(node, term.term.topology_key);
    // The first pod whose affinity term selects itself may go anywhere.
    const bool first = term.counts.empty() && term.self;
    if (value == nullptr || (!term.counts.contains(*value) && !first)) {
      return {"node(s) didn't match pod affinity rules"};
    }
  }
  for (const auto& term : impl_->anti_affinity) {
    const auto* value = label(node, term.term.topology_key);
    if (value != nullptr && term.counts.contains(*value)) {
      return {"node(s) didn't match pod anti-affinity rules"};
    }
  }
  for (const auto& [key, values] : impl_->closed) {
    const auto* value = label(node, key);
    if (value != nullptr && values.contains(*value)) {
      return {"node(s) didn't satisfy existing pods anti-affinity rules"};
    }
  }
  return {};
}

}  // namespace millwright::sandbox
