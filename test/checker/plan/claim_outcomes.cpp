#include "checker/plan/claim_outcomes.hpp"

#include <algorithm>

namespace millwright::checker {
namespace {

// Labels that a requirement of one value amounts to.
void add_labels(model::StringMap& labels, const scheduling::Requirements& requirements) {
  for (const auto& requirement : requirements) {
    if (requirement.op() == model::Operator::In && requirement.values().size() == 1) {
      labels[requirement.key()] = requirement.values().front();
    }
  }
}

model::ResourceList overlaid(model::ResourceList base,
                             const std::optional<model::ResourceList>& more) {
  for (const auto& [name, quantity] : more.value_or(model::ResourceList{})) {
    base[name] = quantity;
  }
  return base;
}

}  // namespace

model::ResourceList daemons_on(const scheduling::Problem& problem, const Machine& machine) {
  model::ResourceList total;
  for (const auto& set : problem.daemon_sets) {
    model::Pod daemon;
    daemon.spec = set->pod_template.spec;
    if (KubeFilters::tolerates(daemon.spec, machine.taints) &&
        KubeFilters::selects_node(daemon.spec, machine.labels, machine.name)) {
      model::add_to(total, KubeFilters::requests(daemon));
    }
  }
  return total;
}

std::vector<ClaimOutcome> outcomes_of(const scheduling::Problem& problem,
                                      const scheduling::PoolOption& option,
                                      const scheduling::PlannedClaim& claim,
                                      const std::string& name) {
  std::vector<ClaimOutcome> result;
  const auto wanted = claim.requirements.to_selectors();
  for (const auto& type : *option.types) {
    if (std::find(claim.instance_types.begin(), claim.instance_types.end(), type.name) ==
        claim.instance_types.end()) {
      continue;
    }
    for (const auto& offering : type.offerings) {
      Machine machine{.name = name, .labels = claim.labels};
      add_labels(machine.labels, type.requirements);
      add_labels(machine.labels, offering.requirements);
      const bool admitted = std::all_of(wanted.begin(), wanted.end(), [&](const auto& item) {
        return model::matches(item, machine.labels);
      });
      if (!offering.available || !admitted) {
        continue;
      }
      machine.labels["kubernetes.io/hostname"] = name;
      machine.labels["karpenter.sh/registered"] = "true";
      machine.labels["karpenter.sh/initialized"] = "true";
      machine.taints = option.pool->template_.taints.value_or(std::vector<model::Taint>{});
      machine.allocatable = overlaid(type.capacity, offering.capacity_override);
      model::subtract_from(machine.allocatable,
                           overlaid(type.overhead, offering.overhead_override));
      model::subtract_from(machine.allocatable, daemons_on(problem, machine));
      result.push_back({&type, &offering, std::move(machine)});
    }
  }
  return result;
}

}  // namespace millwright::checker
