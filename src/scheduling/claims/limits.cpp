#include "scheduling/claims/limits.hpp"

#include "scheduling/compile/nodes/launch_options.hpp"

#include <algorithm>

namespace millwright::scheduling {
namespace {

// It will be gone, and so will its use of the limits. Did it count until then, its pods could not
// be bought for: a budget that asks for their successors first would keep the node for ever.
bool is_on_its_way_out(const NodeRecord& node) {
  return node.claim != nullptr && node.claim->meta.is_deleting();
}

}  // namespace

Limits::Limits(const PoolTemplate& pool, const Problem& problem) {
  if (!pool.pool->limits) {
    return;
  }
  for (const auto& [name, quantity] : *pool.pool->limits) {
    if (name == model::kNodes) {
      max_nodes_ = quantity.units();
      continue;
    }
    Resource resource{.name = name, .limit = quantity.milli()};
    for (std::size_t row = 0; row < pool.table->size(); ++row) {
      resource.by_row.push_back(model::get(pool.table->row(row).capacity(), name).milli());
    }
    resources_.push_back(std::move(resource));
  }
  for (const auto& node : problem.counted_nodes) {
    if (node->node_pool() == pool.name() && !is_on_its_way_out(*node)) {
      count(*node, pool);
    }
  }
}

void Limits::count(const NodeRecord& node, const PoolTemplate& pool) {
  ++nodes_;
  if (is_unlaunched(node)) {
    const RowSet rows = launch_options(*node.claim, *pool.table);
    for (Resource& resource : resources_) {
      const auto most = rows.empty() ? model::get(node.claim->requests, resource.name).milli()
                                     : largest(resource, rows);
      resource.used = saturating_add(resource.used, most);
    }
    return;
  }
  const model::ResourceList capacity = node.capacity();
  for (Resource& resource : resources_) {
    resource.used = saturating_add(resource.used, model::get(capacity, resource.name).milli());
  }
}

std::int64_t Limits::largest(const Resource& resource, const RowSet& rows) const {
  std::int64_t most = 0;
  rows.for_each([&](std::size_t row) { most = std::max(most, resource.by_row[row]); });
  return most;
}

void Limits::keep_within(RowSet& rows) const {
  for (const Resource& resource : resources_) {
    const std::int64_t left = saturating_subtract(resource.limit, resource.used);
    rows.for_each([&](std::size_t row) {
      if (resource.by_row[row] > left) {
        rows.erase(row);
      }
    });
  }
}

void Limits::charge(const RowSet& rows) {
  ++nodes_;
  for (Resource& resource : resources_) {
    resource.used = saturating_add(resource.used, largest(resource, rows));
  }
}

void Limits::refund(const RowSet& rows) {
  --nodes_;
  for (Resource& resource : resources_) {
    resource.used = saturating_subtract(resource.used, largest(resource, rows));
  }
}

void Limits::recharge(const RowSet& before, const RowSet& after) {
  for (Resource& resource : resources_) {
    resource.used = saturating_subtract(resource.used, largest(resource, before));
    resource.used = saturating_add(resource.used, largest(resource, after));
  }
}

model::ResourceList Limits::charge_of(const RowSet& rows) const {
  model::ResourceList charge;
  if (max_nodes_) {
    charge.emplace(model::kNodes, model::Quantity::from_units(1));
  }
  for (const Resource& resource : resources_) {
    charge.emplace(resource.name, model::Quantity::from_milli(largest(resource, rows)));
  }
  return charge;
}

model::ResourceList Limits::left() const {
  model::ResourceList left;
  if (max_nodes_) {
    left.emplace(model::kNodes, model::Quantity::from_units(*max_nodes_ - nodes_));
  }
  for (const Resource& resource : resources_) {
    left.emplace(resource.name,
                 model::Quantity::from_milli(saturating_subtract(resource.limit, resource.used)));
  }
  return left;
}

RowSet Limits::no_larger_than(std::size_t row, RowSet rows) const {
  for (const Resource& resource : resources_) {
    rows.for_each([&](std::size_t other) {
      if (resource.by_row[other] > resource.by_row[row]) {
        rows.erase(other);
      }
    });
  }
  return rows;
}

std::vector<Limits::Shortage> Limits::shortages(std::size_t row) const {
  std::vector<Shortage> result;
  if (nodes_exhausted()) {
    result.push_back({model::kNodes, model::Quantity::from_units(*max_nodes_),
                      model::Quantity::from_units(nodes_ + 1)});
  }
  for (const Resource& resource : resources_) {
    const std::int64_t needed = saturating_add(resource.used, resource.by_row[row]);
    if (needed > resource.limit) {
      // Memory reads better in binary units.
      const auto format = resource.name == model::kCpu ? model::Quantity::Format::DecimalSI
                                                       : model::Quantity::Format::BinarySI;
      result.push_back({resource.name, model::Quantity::from_milli(resource.limit, format),
                        model::Quantity::from_milli(needed, format)});
    }
  }
  return result;
}

}  // namespace millwright::scheduling
