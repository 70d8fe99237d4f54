// NodePools: limits, usage, cost and disruption budgets.

#include "millwright/disruption/decide.hpp"
#include "telemetry/sections.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace millwright::telemetry {
namespace {

constexpr disruption::Reason kReasons[] = {disruption::Reason::Empty, disruption::Reason::Drifted,
                                           disruption::Reason::Underutilized};

void write_resources(Text& text, const Labels& pool, const model::ResourceList& resources) {
  for (const auto& [resource, amount] : resources) {
    text.sample(pool, "resource_type", resource_label(resource), amount.as_double());
  }
}

// What a pool's nodes cost per hour. Nodes are of few kinds, and looking a price up is slow.
class Costs {
 public:
  explicit Costs(const PageInput& input) {
    for (const auto& record : input.snapshot.nodes) {
      if (record->claim && !record->node_pool().empty()) {
        by_pool_[record->node_pool()] += price_of(input.catalog, *record);
      }
    }
  }
  double of(const std::string& pool) const {
    const auto found = by_pool_.find(pool);
    return found == by_pool_.end() ? 0 : found->second;
  }

 private:
  double price_of(const scheduling::Catalog& catalog, const scheduling::NodeRecord& record) {
    const auto& meta = record.claim->meta;
    const auto key = std::tuple(std::string_view(record.node_pool()),
                                std::string_view(meta.label(model::kInstanceTypeLabel)),
                                std::string_view(meta.label(model::kZoneLabel)),
                                std::string_view(meta.label(model::kCapacityTypeLabel)));
    const auto [known, is_new] = prices_.try_emplace(key, 0);
    if (is_new) {
      const auto types = catalog.find(record.node_pool());
      if (types != catalog.end()) {
        known->second = scheduling::price_of(types->second, meta.labels).value_or(0);
      }
    }
    return known->second;
  }

  using Kind = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>;
  std::map<Kind, double> prices_;
  std::map<std::string_view, double> by_pool_;
};

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
  const Costs costs(input);
  for (const auto& pool : pools) {
    text.sample(Labels().add("nodepool", pool->meta.name), costs.of(pool->meta.name));
  }
  write_budgets(text, input);
}

}  // namespace millwright::telemetry
