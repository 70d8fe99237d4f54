// NodePools: limits, usage, cost and disruption budgets.

#include "millwright/disruption/decide.hpp"
#include "millwright/telemetry/node_costs.hpp"
#include "telemetry/sections.hpp"

#include <algorithm>
#include <map>
#include <string_view>

namespace millwright::telemetry {
namespace {

constexpr disruption::Reason kReasons[] = {disruption::Reason::Empty, disruption::Reason::Drifted,
                                           disruption::Reason::Underutilized};

void write_resources(Text& text, const Labels& pool, const model::ResourceList& resources) {
  for (const auto& [resource, amount] : resources) {
    text.sample(pool, "resource_type", resource_label(resource), amount.as_double());
  }
}

// What the nodes of each pool cost per hour.
std::map<std::string_view, double> costs_by_pool(const PageInput& input) {
  NodeCosts costs(input.catalog);
  std::map<std::string_view, double> by_pool;
  for (const auto& record : input.snapshot.nodes) {
    if (const auto price = costs.price_of(*record)) {
      by_pool[record->node_pool()] += *price;
    }
  }
  return by_pool;
}

void write_budgets(Text& text, const PageInput& input) {
  std::map<std::string_view, std::vector<scheduling::NodeRecordPtr>> nodes;
  for (const auto& record : input.snapshot.nodes) {
    nodes[record->node_pool()].push_back(record);
  }
  text.gauge("karpenter_nodepools_allowed_disruptions",
             "Nodes of the NodePool that budgets let go now, less those already going.");
  for (const auto& pool : input.snapshot.node_pools) {
    for (const auto reason : kReasons) {
      const int allowed =
          disruption::allowed_disruptions(*pool, nodes[pool->meta.name], reason, input.now);
      text.sample(Labels().add("nodepool", pool->meta.name).add("reason", to_string(reason)),
                  allowed);
    }
  }
  text.gauge("karpenter_nodepools_nodes_consuming_budgets",
             "Nodes of the NodePool that are going or not Ready, and so use up its budgets.");
  for (const auto& pool : input.snapshot.node_pools) {
    const auto& members = nodes[pool->meta.name];
    const auto consuming = std::count_if(members.begin(), members.end(), [](const auto& record) {
      return record->managed() && record->node && record->initialized() &&
             (record->marked_for_deletion || !model::is_ready(*record->node));
    });
    for (const auto reason : kReasons) {
      text.sample(Labels().add("nodepool", pool->meta.name).add("reason", to_string(reason)),
                  static_cast<double>(consuming));
    }
  }
}

}  // namespace

void write_pools(Text& text, const PageInput& input) {
  const auto& pools = input.snapshot.node_pools;
  text.gauge("karpenter_nodepools_limit", "What the NodePool's limits allow.");
  for (const auto& pool : pools) {
    if (pool->limits) {
      write_resources(text, Labels().add("nodepool", pool->meta.name), *pool->limits);
    }
  }
  text.gauge("karpenter_nodepools_usage", "What the NodePool's nodes add up to.");
  for (const auto& pool : pools) {
    write_resources(text, Labels().add("nodepool", pool->meta.name), pool->resources);
  }
  text.gauge("karpenter_nodepools_cost_total", "What the NodePool's nodes cost per hour.");
  const auto costs = costs_by_pool(input);
  for (const auto& pool : pools) {
    const auto cost = costs.find(pool->meta.name);
    text.sample(Labels().add("nodepool", pool->meta.name), cost == costs.end() ? 0 : cost->second);
  }
  write_budgets(text, input);
}

}  // namespace millwright::telemetry
