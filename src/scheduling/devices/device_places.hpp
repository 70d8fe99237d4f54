// Which devices instance types and nodes have for the queries of a problem.
#pragma once

#include "millwright/scheduling/solve.hpp"
#include "scheduling/devices/device_memory.hpp"
#include "scheduling/devices/device_queries.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace millwright::scheduling {

class DevicePlaces {
 public:
  // The devices of one place, those that are taken left out.
  using Masks = std::vector<QueryMask>;

  DevicePlaces(const Problem& problem, DeviceQueries& queries, DeviceMemory& memory);

  // By instance type, in the order of the pool's types.
  const std::vector<Masks>& of_pool(std::size_t pool) const { return pools_[pool]; }
  // By the order of the problem's nodes: one entry, or one for each instance type that the node may
  // turn out to be.
  const std::vector<Masks>& of_node(std::size_t node) const { return nodes_[node]; }
  // Of all devices anywhere, taken ones too.
  const std::set<QueryMask>& seen() const { return seen_; }
  // The most devices that one place has for the query when nothing is taken.
  std::int64_t most(std::size_t query) const { return most_[query]; }
  // The drivers whose devices answer the query on nodes of the type.
  std::set<std::string, std::less<>> drivers(std::string_view pool, std::string_view instance_type,
                                             std::size_t query) const;

 private:
  struct Offer {  // a device, and who offers it
    std::string_view driver;
    std::string_view pool;
    const model::Device* device;
  };
  using Offers = std::vector<Offer>;

  struct Published {  // on one node, in complete pools
    Offers offers;
    std::set<std::string_view> drivers;
  };

  static std::map<std::string_view, Published> published_by_node(const Snapshot& cluster);
  Offers offers_of_type(const PoolOption& pool, const InstanceType& type) const;
  DeviceMemory::TypeMasks masks_of_types(const PoolOption& pool);
  Masks ask(const Offers& offers);
  void note(const Masks& masks);
  Masks free_of(const Offers& offers);
  std::vector<Masks> masks_of_node(const NodeRecord& node, const Published& published);
  void find_taken();

  const Problem& problem_;
  DeviceQueries& queries_;
  std::set<std::tuple<std::string_view, std::string_view, std::string_view>> taken_;
  std::vector<std::vector<Masks>> pools_;
  // By NodePool and instance type: into pools_.
  std::map<std::pair<std::string_view, std::string_view>, std::pair<std::size_t, std::size_t>>
      types_;
  std::vector<std::vector<Masks>> nodes_;
  std::set<QueryMask> seen_;
  std::vector<std::int64_t> most_;
};

}  // namespace millwright::scheduling
