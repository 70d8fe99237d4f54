#include "scheduling/anti_affinity.hpp"

#include <algorithm>
#include <string_view>

namespace millwright::scheduling {

AntiAffinity::AntiAffinity(const Problem& problem) : surroundings_(problem.surroundings.get()) {
  std::set<std::string_view> moving;
  for (const auto& pod : problem.pods) {
    if (!pod->spec.node_name.empty()) {
      moving.insert(pod->meta.uid);
    }
  }
  const bool everywhere = surroundings_ != nullptr && !surroundings_->nodes.empty();
  for (const auto& node : everywhere ? surroundings_->nodes : problem.nodes) {
    add_pods_of(*node, moving);
  }
}

void AntiAffinity::add_pods_of(const NodeRecord& node, const std::set<std::string_view>& moving) {
  for (const auto& pod : node.pods) {
    const auto& terms = pod->spec.affinity.required_pod_anti_affinity;
    if (terms.empty() || moving.contains(pod->meta.uid)) {
      continue;
    }
    for (const auto& term : terms) {
      const auto label = node.labels().find(term.topology_key);
      if (label != node.labels().end()) {
        add(term, *pod, label->second);
      } else if (term.topology_key == model::kHostnameLabel) {
        add(term, *pod, node.name());
      }
    }
  }
}

void AntiAffinity::add(const model::PodAffinityTerm& term, const model::Pod& owner,
                       const std::string& domain) {
  if (!term.label_selector) {
    return;  // an absent selector selects nothing
  }
  Term entry{.selector = *term.label_selector, .topology_key = term.topology_key};
  entry.namespaces.insert(term.namespaces.begin(), term.namespaces.end());
  if (term.namespace_selector) {
    entry.every_namespace = term.namespace_selector->empty();
    if (surroundings_ != nullptr) {
      for (const auto& ns : surroundings_->namespaces) {
        if (term.namespace_selector->matches(ns->meta.labels)) {
          entry.namespaces.insert(ns->meta.name);
        }
      }
    }
  } else if (term.namespaces.empty()) {
    entry.namespaces.insert(owner.meta.namespace_);
  }
  // Replicas of one workload carry equal terms; they differ in their domain only.
  const auto same = std::find_if(terms_.begin(), terms_.end(), [&](const Term& other) {
    return other.topology_key == entry.topology_key && other.selector == entry.selector &&
           other.namespaces == entry.namespaces && other.every_namespace == entry.every_namespace;
  });
  if (same != terms_.end()) {
    same->domains.insert(domain);
    return;
  }
  entry.domains.insert(domain);
  terms_.push_back(std::move(entry));
}

Requirements AntiAffinity::forbidden(const model::Pod& pod) const {
  Requirements result;
  for (const Term& term : terms_) {
    if ((term.every_namespace || term.namespaces.contains(pod.meta.namespace_)) &&
        term.selector.matches(pod.meta.labels)) {
      result.add(Requirement(term.topology_key, model::Operator::NotIn,
                             std::vector<std::string>(term.domains.begin(), term.domains.end())));
    }
  }
  return result;
}

}  // namespace millwright::scheduling
