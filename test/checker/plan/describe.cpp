#include "checker/plan/checker.hpp"

#include <algorithm>
#include <map>

namespace millwright::checker {
namespace {

std::string text_of(const std::optional<model::LabelSelector>& selector) {
  return selector ? "{" + model::to_string(*selector) + "}" : "none";
}

std::string text_of(const model::PodAffinityTerm& term) {
  std::string text = term.topology_key + " " + text_of(term.label_selector);
  for (const auto& name : term.namespaces) {
    text += " in " + name;
  }
  if (term.namespace_selector) {
    text += " in namespaces " + text_of(term.namespace_selector);
  }
  for (const auto& key : term.match_label_keys) {
    text += " same " + key;
  }
  for (const auto& key : term.mismatch_label_keys) {
    text += " other " + key;
  }
  return text;
}

std::string text_of(const model::Pod& pod) {
  std::string text = pod.meta.namespace_ + "/" + pod.meta.uid;
  for (const auto& [key, value] : pod.meta.labels) {
    text += " " + key + "=" + value;
  }
  for (const auto& [key, value] : pod.spec.node_selector) {
    text += "; selects " + key + "=" + value;
  }
  for (const auto& term : pod.spec.affinity.required_node_terms) {
    text += "; term";
    for (const auto& item : term.match_expressions) {
      text += " " + item.key + " " + std::string(model::to_string(item.op));
      for (const auto& value : item.values) {
        text += " " + value;
      }
    }
  }
  for (const auto& item : pod.spec.topology_spread) {
    text += "; spread " + std::to_string(item.max_skew) + " " + item.topology_key + " " +
            text_of(item.label_selector) + " " + item.when_unsatisfiable +
            (item.min_domains ? " min " + std::to_string(*item.min_domains) : "") + " " +
            item.node_affinity_policy + "/" + item.node_taints_policy;
  }
  const auto terms = [&](const char* what, const auto& list) {
    for (const auto& term : list) {
      text += std::string("; ") + what + " " + text_of(term);
    }
  };
  terms("beside", pod.spec.affinity.required_pod_affinity);
  terms("apart", pod.spec.affinity.required_pod_anti_affinity);
  return text;
}

}  // namespace

std::string describe(const scheduling::Problem& problem, const scheduling::Plan& plan) {
  std::string text;
  for (const auto& option : problem.pools) {
    text += "pool " + option.pool->meta.name + ":";
    for (const auto& item : option.pool->template_.requirements) {
      text += " " + scheduling::Requirement(item.key, item.op, item.values).to_string();
    }
    text += option.pool->template_.taints ? " tainted\n" : "\n";
  }
  for (const auto& record : problem.counted_nodes) {
    text += "node " + record->name() + (record->marked_for_deletion ? " (leaving)" : "");
    for (const auto& [key, value] : record->labels()) {
      text += " " + key + "=" + value;
    }
    text += record->taints().empty() ? "\n" : " tainted\n";
    for (const auto& pod : record->pods) {
      text += "  runs " + text_of(*pod) + "\n";
    }
  }
  for (std::size_t i = 0; i < plan.claims.size(); ++i) {
    text += "claim " + std::to_string(i) + " of " + plan.claims[i].node_pool + ": " +
            plan.claims[i].requirements.to_string() + "\n";
  }
  std::map<std::string, const model::Pod*> pods;
  for (const auto& pod : problem.pods) {
    pods[pod->meta.uid] = pod.get();
  }
  auto steps = plan.placements;
  std::stable_sort(steps.begin(), steps.end(),
                   [](const auto& a, const auto& b) { return a.step < b.step; });
  for (const auto& placement : steps) {
    const auto* index = std::get_if<std::size_t>(&placement.target);
    text += std::to_string(placement.step) + " -> " +
            (index != nullptr ? "claim " + std::to_string(*index)
                              : std::get<std::string>(placement.target)) +
            ": " + text_of(*pods.at(placement.pod_uid)) + "\n";
  }
  for (const auto& refusal : plan.refusals) {
    text += "refused " + text_of(*pods.at(refusal.pod_uid)) + ": " + refusal.reason + "\n";
  }
  return text;
}

}  // namespace millwright::checker
