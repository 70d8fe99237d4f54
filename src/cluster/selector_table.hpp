// Objects that select pods (Services and pods' controllers), by kind, then by name and namespace.
#pragma once

#include "cluster/freshness.hpp"
#include "millwright/model/pod_selector.hpp"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::cluster {

class SelectorTable {
 public:
  using Ptr = std::shared_ptr<const model::PodSelector>;

  // False when the selector is the same as before: a ReplicaSet changes with every pod that comes
  // or goes, but its selector does not.
  bool put(const Ptr& selector) {
    auto& table = by_kind_[selector->kind];
    const auto key = name_and_namespace(*selector);
    const auto known = table.find(key);
    return (known == nullptr || known->selector != selector->selector) &&
           accept(table, key, selector);
  }
  bool erase(std::string_view kind, TableKeyView key) {
    const auto table = by_kind_.find(kind);
    return table != by_kind_.end() && table->second.erase(key);
  }
  std::vector<Ptr> items() {
    std::vector<Ptr> all;
    for (auto& [kind, table] : by_kind_) {
      const auto& items = table.items();
      all.insert(all.end(), items.begin(), items.end());
    }
    return all;
  }

 private:
  std::map<std::string, SortedTable<model::PodSelector, name_and_namespace<model::PodSelector>>,
           std::less<>>
      by_kind_;
};

}  // namespace millwright::cluster
