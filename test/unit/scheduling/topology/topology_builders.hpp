// Builders of what pods say about other pods, and counts of where a plan puts them.
#pragma once

#include "unit/scheduling/builders.hpp"

#include <map>
#include <string>
#include <utility>

namespace millwright::scheduling::testing {

constexpr auto kZone = model::kZoneLabel;
constexpr auto kHost = model::kHostnameLabel;

inline model::LabelSelector matching(model::StringMap labels) {
  return {.match_labels = std::move(labels)};
}

inline model::TopologySpreadConstraint spread_over(std::string_view key, std::int32_t max_skew,
                                                   model::StringMap labels = {{"app", "web"}},
                                                   std::string when = "DoNotSchedule") {
  return {.max_skew = max_skew,
          .topology_key = std::string(key),
          .when_unsatisfiable = std::move(when),
          .label_selector = matching(std::move(labels))};
}

inline model::PodAffinityTerm term(std::string_view key,
                                   model::StringMap labels = {{"app", "web"}}) {
  return {.label_selector = matching(std::move(labels)), .topology_key = std::string(key)};
}

inline auto spreads(model::TopologySpreadConstraint constraint) {
  return [constraint](model::Pod& p) { p.spec.topology_spread.push_back(constraint); };
}
inline auto beside(model::PodAffinityTerm where) {
  return [where](model::Pod& p) { p.spec.affinity.required_pod_affinity.push_back(where); };
}
inline auto apart(model::PodAffinityTerm where) {
  return [where](model::Pod& p) { p.spec.affinity.required_pod_anti_affinity.push_back(where); };
}
inline auto likes(std::int32_t weight, model::PodAffinityTerm where) {
  return [=](model::Pod& p) { p.spec.affinity.preferred_pod_affinity.push_back({weight, where}); };
}
inline auto dislikes(std::int32_t weight, model::PodAffinityTerm where) {
  return [=](model::Pod& p) {
    p.spec.affinity.preferred_pod_anti_affinity.push_back({weight, where});
  };
}

// A small pod with label app=web.
inline PodBuilder web(std::string name) {
  return pod(std::move(name)).cpu("100m").label("app", "web");
}

// A claim that is created, not launched: one of these zones.
inline NodeBuilder unlaunched(const std::string& name, std::vector<std::string> zones) {
  return node(name).without_node().with_claim([&](model::NodeClaim& claim) {
    claim.provider_id.clear();
    claim.capacity.clear();
    claim.allocatable.clear();
    claim.meta.labels = {{std::string(model::kNodePoolLabel), "default"}};
    claim.requirements = {need(model::kInstanceTypeLabel, model::Operator::In, {"large"}),
                          need(kZone, model::Operator::In, std::move(zones))};
  });
}

// Pods of the plan per domain of new claims (those without one value there are under "?") and of
// the problem's nodes. Pods whose name starts otherwise are left out.
inline std::map<std::string, int> per_domain(const Problem& problem, const Plan& plan,
                                             std::string_view key, std::string_view prefix = "") {
  std::map<std::string, int> result;
  for (const Placement& placement : plan.placements) {
    if (!placement.pod_uid.starts_with(prefix)) {
      continue;
    }
    if (const auto* index = std::get_if<std::size_t>(&placement.target)) {
      const auto values = values_of(plan.claims[*index], key);
      ++result[key == model::kHostnameLabel ? "claim " + std::to_string(*index)
               : values.size() == 1         ? values.front()
                                            : "?"];
      continue;
    }
    for (const auto& node : problem.nodes) {
      if (node->name() == std::get<std::string>(placement.target)) {
        const auto label = node->labels().find(key);
        ++result[label == node->labels().end() ? "none" : label->second];
      }
    }
  }
  return result;
}

inline std::map<std::string, int> per_domain(const ProblemBuilder& builder, std::string_view key,
                                             std::string_view prefix = "") {
  return per_domain(builder.problem(), builder.solve(), key, prefix);
}

}  // namespace millwright::scheduling::testing
