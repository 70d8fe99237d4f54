// One table for each watched kind, by the list of watched kinds.
#pragma once

#include "cluster/demand/quota_table.hpp"
#include "cluster/demand/workload_table.hpp"
#include "cluster/selector_table.hpp"
#include "cluster/sorted_table.hpp"
#include "millwright/cluster/watched_kinds.hpp"

#include <tuple>
#include <type_traits>

namespace millwright::cluster {

// What model::reference_to has.
inline TableKeyView class_key(const model::NodeClass& node_class) {
  return {node_class.meta.name, node_class.kind, model::api_group(node_class.api_version)};
}

// The table that keeps objects of a kind. Pods, nodes and claims are joined and have tables of
// their own.
template <class T>
struct TableOf {
  using type = SortedTable<T, name_and_namespace<T>>;
};
template <>
struct TableOf<model::NodeClass> {
  using type = SortedTable<model::NodeClass, class_key>;
};
template <>
struct TableOf<model::PodSelector> {
  using type = SelectorTable;
};
template <>
struct TableOf<model::Workload> {
  using type = WorkloadTable;
};
template <>
struct TableOf<model::ResourceQuota> {
  using type = QuotaTable;
};
template <class T>
using Table = typename TableOf<T>::type;

template <class T>
constexpr bool kIsJoined = std::is_same_v<T, model::Pod> || std::is_same_v<T, model::Node> ||
                           std::is_same_v<T, model::NodeClaim>;

// A snapshot has a list of all objects of the kind.
template <class T>
constexpr bool kIsListed = std::get<WatchedKind<T>>(kWatchedKinds).items != nullptr;

struct NoTable {};
template <class Watched>
struct Tables;
template <class... T>
struct Tables<std::tuple<WatchedKind<T>...>> {
  // A type for each kind, so that several may have no table.
  template <class Each>
  struct Place {
    std::conditional_t<kIsJoined<Each>, NoTable, Table<Each>> table;
  };
  std::tuple<Place<T>...> places;
  template <class Each>
  Table<Each>& of() {
    return std::get<Place<Each>>(places).table;
  }
  template <class Each>
  const Table<Each>& of() const {
    return std::get<Place<Each>>(places).table;
  }
};
using AllWatchedKinds = std::remove_const_t<decltype(kWatchedKinds)>;

}  // namespace millwright::cluster
