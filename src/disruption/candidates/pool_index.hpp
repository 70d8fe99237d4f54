// The NodePools of a snapshot by name, and what their annotations ask of disruption.
#pragma once

#include "millwright/disruption/preferences.hpp"
#include "millwright/scheduling/snapshot.hpp"

#include <map>
#include <memory>
#include <string_view>

namespace millwright::disruption {

class PoolIndex {
 public:
  explicit PoolIndex(const scheduling::Snapshot& snapshot) {
    for (const auto& pool : snapshot.node_pools) {
      by_name_.emplace(pool->meta.name, Entry{pool, parse_preferences(pool->meta.annotations)});
    }
  }

  // nullptr when there is none of that name.
  std::shared_ptr<const model::NodePool> find(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second.pool;
  }
  // Of a pool that there is.
  const Preferences& preferences_of(const model::NodePool& pool) const {
    return by_name_.at(pool.meta.name).preferences;
  }

 private:
  struct Entry {
    std::shared_ptr<const model::NodePool> pool;
    Preferences preferences;
  };
  std::map<std::string_view, Entry> by_name_;
};

}  // namespace millwright::disruption
