// ResourceQuotas by namespace.
#pragma once

#include "cluster/freshness.hpp"
#include "cluster/sorted_table.hpp"
#include "millwright/model/resource_quota.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millwright::cluster {

class QuotaTable {
 public:
  using Ptr = std::shared_ptr<const model::ResourceQuota>;

  // False when the quota admits as much as before.
  bool put(const Ptr& quota) {
    auto& quotas = by_namespace_[quota->meta.namespace_];
    const auto place = place_of(quotas, quota->meta.name);
    if (place == quotas.end() || (*place)->meta.name != quota->meta.name) {
      quotas.insert(place, quota);
      return true;
    }
    if (is_stale((*place)->meta, quota->meta)) {
      return false;
    }
    const Ptr before = std::exchange(*place, quota);
    return before->hard != quota->hard || before->scoped != quota->scoped;
  }
  // False when there is no such quota.
  bool erase(TableKeyView key) {
    const auto quotas = by_namespace_.find(key.qualifier);
    if (quotas == by_namespace_.end()) {
      return false;
    }
    const auto place = place_of(quotas->second, key.name);
    if (place == quotas->second.end() || (*place)->meta.name != key.name) {
      return false;
    }
    quotas->second.erase(place);
    if (quotas->second.empty()) {
      by_namespace_.erase(quotas);
    }
    return true;
  }
  // Sorted by name.
  std::span<const Ptr> in_namespace(std::string_view name) const {
    const auto quotas = by_namespace_.find(name);
    return quotas == by_namespace_.end() ? std::span<const Ptr>() : std::span(quotas->second);
  }

 private:
  static std::vector<Ptr>::iterator place_of(std::vector<Ptr>& quotas, std::string_view name) {
    return std::partition_point(quotas.begin(), quotas.end(),
                                [name](const Ptr& quota) { return quota->meta.name < name; });
  }

  std::map<std::string, std::vector<Ptr>, std::less<>> by_namespace_;
};

}  // namespace millwright::cluster
