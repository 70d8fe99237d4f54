#include "scheduling/compile/pools/pool_template.hpp"

#include "scheduling/compile/pools/min_values.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace millwright::scheduling {
namespace {

// No label value may contain a space, so no pod can ask for this one.
constexpr std::string_view kUnknownHostname = "a new node";

bool may_grow(const PoolOption& option) {
  const model::NodePool& pool = *option.pool;
  const auto* ready = model::find_condition(pool.conditions, model::kReady);
  return !pool.meta.is_deleting() && !pool.replicas &&
         (ready == nullptr || ready->status == model::ConditionStatus::True);
}

model::StringMap labels_of(const model::NodePool& pool) {
  model::StringMap labels = pool.template_.labels.value_or(model::StringMap{});
  labels[std::string(model::kNodePoolLabel)] = pool.meta.name;
  const auto& node_class = pool.template_.node_class_ref;
  if (!node_class.name.empty()) {
    labels[node_class.label_key()] = node_class.name;
  }
  return labels;
}

Requirements requirements_of(const model::NodePool& pool, const model::StringMap& labels) {
  Requirements result(pool.template_.requirements);
  result.add(Requirements::from_labels(labels));
  result.add(Requirement::in(model::kRegisteredLabel, {"true"}));
  result.add(Requirement::in(model::kInitializedLabel, {"true"}));
  result.replace(Requirement::in(model::kHostnameLabel, {std::string(kUnknownHostname)}));
  return result;
}

// Rows that fit the pool's own requirements and that some compatible offering sells.
void choose_rows(PoolTemplate& pool, MinValuesPolicy policy) {
  const TypeTable& table = *pool.table;
  pool.rows = RowSet(table.size());
  if (table.size() == 0) {
    pool.problem = "the cloud offers no instance types";
    return;
  }
  pool.rows = table.admitted(pool.requirements);
  if (pool.rows.empty()) {
    pool.problem = "its requirements filter out all instance types";
    return;
  }
  RowSet sold(table.size());
  for (const OfferingKind& kind : table.kinds()) {
    if (pool.requirements.compatible(kind.requirements, AllowUndefined::WellKnown)) {
      sold |= kind.rows;
    }
  }
  pool.rows &= sold;
  if (pool.rows.empty()) {
    pool.problem = "no instance type that meets its requirements has an available offering";
    return;
  }
  if (policy == MinValuesPolicy::Strict) {
    pool.problem = min_values_shortfall(pool.requirements, table, pool.rows);
  }
}

RoomTable room_of(const PoolTemplate& pool, const Columns& columns, const VolumeLimits* learned) {
  std::vector<Amounts> room;
  room.reserve(pool.table->size());
  for (std::size_t row = 0; row < pool.table->size(); ++row) {
    room.push_back(columns.amounts(pool.table->row(row).allocatable));
  }
  for (const DaemonGroup& group : pool.daemon_groups) {
    const Amounts overhead = columns.amounts(group.requests);
    group.rows.for_each([&](std::size_t row) { subtract_from(room[row], overhead); });
  }
  for (const VolumeColumn& column : volume_columns(columns)) {
    for (std::size_t row = 0; row < room.size(); ++row) {
      room[row][column.column] = volume_room(*pool.table->row(row).type, column.driver, learned);
    }
  }
  return RoomTable(std::move(room));
}

PoolTemplate compile(std::shared_ptr<const model::NodePool> node_pool,
                     std::shared_ptr<const TypeTable> table, const Columns& columns,
                     std::span<const DaemonPod> daemons, const Problem& problem) {
  PoolTemplate pool;
  pool.pool = std::move(node_pool);
  pool.table = std::move(table);
  pool.min_values = problem.options.min_values;
  pool.labels = labels_of(*pool.pool);
  pool.requirements = requirements_of(*pool.pool, pool.labels);
  pool.taints = pool.pool->template_.taints.value_or(std::vector<model::Taint>{});
  pool.daemon_groups = daemon_groups(daemons, *pool.table, pool.requirements, pool.taints);
  pool.room = room_of(pool, columns, learned_limits(problem).get());
  choose_rows(pool, pool.min_values);
  return pool;
}

// The API server raises the generation with every change of a spec, and never otherwise.
bool says_the_same(const model::NodePool& a, const model::NodePool& b) {
  return &a == &b || (a.meta.generation > 0 && a.meta.generation == b.meta.generation &&
                      !a.meta.uid.empty() && a.meta.uid == b.meta.uid);
}

}  // namespace

bool is_simulated_key(std::string_view key) {
  return key == model::kRegisteredLabel || key == model::kInitializedLabel ||
         key == model::kHostnameLabel;
}

ById<PoolId, PoolTemplate> pool_templates(const Problem& problem, const Columns& columns,
                                          std::span<const DaemonPod> daemons, PoolMemory memory) {
  std::vector<const PoolOption*> options;
  for (const PoolOption& option : problem.pools) {
    if (option.pool && may_grow(option)) {
      options.push_back(&option);
    }
  }
  std::sort(options.begin(), options.end(), [](const PoolOption* a, const PoolOption* b) {
    if (a->pool->weight != b->pool->weight) {
      return a->pool->weight > b->pool->weight;
    }
    return a->pool->meta.name > b->pool->meta.name;
  });
  const bool alike =
      memory.columns == columns && memory.volume_limits == learned_limits(problem) &&
      std::equal(daemons.begin(), daemons.end(), memory.daemons.begin(), memory.daemons.end());
  // By list and by what a node costs. Looked up, never iterated.
  std::map<std::pair<const void*, double>, std::shared_ptr<const TypeTable>> tables;
  for (const PoolTemplate& old : memory.pools) {
    tables.emplace(std::pair(old.table->types().get(), old.table->node_overhead()), old.table);
  }
  ById<PoolId, PoolTemplate> result;
  for (const PoolOption* option : options) {
    const auto known =
        std::find_if(memory.pools.begin(), memory.pools.end(), [&](const PoolTemplate& old) {
          return alike && old.pool && says_the_same(*old.pool, *option->pool) &&
                 old.table->types() == option->types &&
                 old.table->node_overhead() == option->node_overhead &&
                 old.min_values == problem.options.min_values;
        });
    if (known != memory.pools.end()) {
      known->pool = nullptr;  // to be taken once
      result.push_back(std::move(*known));
      result.back().pool = option->pool;
      result.back().max_price_ratio = option->max_price_ratio;
      continue;
    }
    auto& table = tables[{option->types.get(), option->node_overhead}];
    if (!table) {
      table = std::make_shared<TypeTable>(
          option->types ? option->types : std::make_shared<const std::vector<InstanceType>>(),
          option->node_overhead);
    }
    result.push_back(compile(option->pool, table, columns, daemons, problem));
    result.back().max_price_ratio = option->max_price_ratio;
  }
  return result;
}

}  // namespace millwright::scheduling
