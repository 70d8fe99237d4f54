#include "scheduling/compile/pods/unsupported.hpp"

#include "millwright/scheduling/requirements.hpp"

namespace millwright::scheduling {
namespace {

// A hostname is restricted in pools but harmless in pods: it names a node that exists.
std::string selector_problem(std::string_view key) {
  if (key == model::kHostnameLabel) {
    return {};
  }
  if (const auto problem = model::qualified_name_problem(key); !problem.empty()) {
    return "its node selector has an invalid label key \"" + std::string(key) + "\": " + problem;
  }
  if (model::is_restricted_label(model::normalized_label_key(key))) {
    return "its node selector uses label " + std::string(key) +
           ", which is reserved for the autoscaler";
  }
  return {};
}

Unsupported selector_problems(const model::PodSpec& spec) {
  const auto check = [](std::string_view key) -> Unsupported {
    std::string problem = selector_problem(key);
    if (problem.empty()) {
      return {};
    }
    return {std::move(problem), "remove " + std::string(key) + " from the pod's node selector"};
  };
  for (const auto& [key, value] : spec.node_selector) {
    if (auto found = check(key); !found.refusal.empty()) {
      return found;
    }
  }
  for (const auto& term : spec.affinity.required_node_terms) {
    if (!term.match_fields.empty()) {
      return {"its node affinity uses matchFields, which only name nodes that exist",
              "use matchExpressions"};
    }
    for (const auto& expression : term.match_expressions) {
      if (auto found = check(expression.key); !found.refusal.empty()) {
        return found;
      }
    }
  }
  return {};
}

}  // namespace

Unsupported unsupported(const model::PodSpec& spec) {
  if (strict_pod_requirements(spec).get(model::kNodePoolLabel).op() ==
      model::Operator::DoesNotExist) {
    return {"it asks for nodes of no NodePool (karpenter.sh/nodepool DoesNotExist)",
            "remove " + std::string(model::kNodePoolLabel) + " from its node affinity"};
  }
  if (!spec.resource_claims.empty()) {
    return {"it needs resource claims (DRA), which are not planned for",
            "request the device as an extended resource"};
  }
  return selector_problems(spec);
}

}  // namespace millwright::scheduling
