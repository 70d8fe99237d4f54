#include "checker/plan/machines.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

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

// What CSINodes of the type said counts more than what the cloud tells.
std::map<std::string, int> volume_limits_of(const scheduling::Problem& problem,
                                            const scheduling::InstanceType& type) {
  std::map<std::string, int> limits(type.volume_limits.begin(), type.volume_limits.end());
  if (problem.cluster && problem.cluster->volume_limits) {
    for (const auto& [name, learned] : *problem.cluster->volume_limits) {
      for (const auto& [driver, limit] : learned) {
        if (name == type.name) {
          limits[driver] = limit;
        }
      }
    }
  }
  return limits;
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
      machine.volume_limits = volume_limits_of(problem, type);
      result.push_back({&type, &offering, std::move(machine)});
    }
  }
  return result;
}

Machine machine_of(const scheduling::Problem& problem, const scheduling::NodeRecord& record,
                   bool usable) {
  std::set<std::string> moving;
  for (const auto& pod : problem.pods) {
    moving.insert(pod->meta.uid);
  }
  Machine machine{.name = record.name(),
                  .labels = record.labels(),
                  .taints = record.taints(),
                  .allocatable = record.allocatable(),
                  .accepts_pods = usable && !record.fenced && !record.marked_for_deletion};
  machine.labels.try_emplace("kubernetes.io/hostname", record.name());
  if (record.managed()) {
    // Judged as it will be when the node is ready again.
    std::erase_if(machine.taints,
                  [](const auto& taint) { return taint.key == "node.kubernetes.io/not-ready"; });
  }
  for (const auto& pod : record.pods) {
    if (!moving.contains(pod->meta.uid)) {
      machine.pods.push_back(pod.get());
    }
  }
  for (const auto& kept : problem.kept) {
    if ((kept.target == record.name() || kept.target == record.claim_name()) &&
        !moving.contains(kept.pod_uid)) {
      // Pods that are counted here bring their requests with them.
      machine.pods.insert(machine.pods.end(), static_cast<std::size_t>(kept.pods),
                          kept.sample.get());
      if (kept.sample == nullptr) {
        model::subtract_from(machine.allocatable, kept.requests);
      }
    }
  }
  model::ResourceList expected = daemons_on(problem, machine);
  model::subtract_from(expected, record.daemon_requests);
  for (const auto& [name, quantity] : expected) {
    if (model::Quantity::from_milli(0) < quantity) {
      model::subtract_from(machine.allocatable, {{name, quantity}});
    }
  }
  if (problem.cluster) {
    for (const auto& csi : problem.cluster->csi_nodes) {
      for (const auto& driver : csi->drivers) {
        if (csi->meta.name == record.name() && driver.allocatable_count) {
          machine.volume_limits[driver.name] = *driver.allocatable_count;
        }
      }
    }
  }
  return machine;
}

scheduling::PlannedClaim anything_of(const scheduling::PoolOption& option) {
  scheduling::PlannedClaim any;
  const auto& wanted = option.pool->template_.requirements;
  any.requirements = scheduling::Requirements(wanted);
  any.labels = option.pool->template_.labels.value_or(model::StringMap{});
  any.labels["karpenter.sh/nodepool"] = option.pool->meta.name;
  for (const auto& item : wanted) {
    // Where the pool leaves a label of its own open, one value stands for all.
    if (item.op == model::Operator::In && item.key == "example.com/rack") {
      any.labels[item.key] = item.values.front();
    }
  }
  std::vector<std::string> names;
  for (const auto& type : *option.types) {
    names.push_back(type.name);
  }
  any.instance_types = std::move(names);
  return any;
}

}  // namespace millwright::checker
