// The NodePools of a snapshot by name.
#pragma once

#include "millwright/scheduling/snapshot.hpp"

#include <map>
#include <memory>
#include <string_view>

namespace millwright::disruption {

class PoolIndex {
 public:
  explicit PoolIndex(const scheduling::Snapshot& snapshot) {
    for (const auto& pool : snapshot.node_pools) {
      by_name_.emplace(pool->meta.name, pool);
    }
  }

  // nullptr when there is none of that name.
  std::shared_ptr<const model::NodePool> find(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }

 private:
  std::map<std::string_view, std::shared_ptr<const model::NodePool>> by_name_;
};

}  // namespace millwright::disruption
