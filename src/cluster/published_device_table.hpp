// What drivers published on nodes of each instance type. A planner that buys another node of the
// type counts on it, also when there is none at the moment.
#pragma once

#include "millwright/model/core.hpp"
#include "millwright/model/device_pools.hpp"
#include "millwright/scheduling/snapshot.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millwright::cluster {

class PublishedDeviceTable {
 public:
  void put(const model::Node& node);
  void put(const model::ResourceSlicePtr& slice);
  void erase_node(std::string_view name);
  void erase_slice(std::string_view name);
  // Each driver's devices are those of one node of the type: the one with the fewest, and of these
  // the one whose name sorts first; those of the last node once none is left. Sorted by driver,
  // pool and name. nullptr: nobody has published any. The same object until something changes.
  const std::shared_ptr<const scheduling::PublishedDevices>& devices() const { return devices_; }

 private:
  // What a driver has on a node.
  struct Offer {
    std::map<std::string, model::ResourceSlicePtr, std::less<>> slices;  // by name
    // None while a pool is incomplete: the driver has not said yet how many there are. One that has
    // no device says nothing about the type either: the node's may be broken.
    std::size_t devices = 0;
  };
  struct Known {
    std::string type;
    std::map<std::string, Offer> drivers;
  };
  struct Place {
    std::string node;
    std::string driver;
  };
  // Nodes with devices of a driver, the one that counts first.
  using Ranking = std::set<std::pair<std::size_t, std::string>>;

  void retype(const std::string& node, Known& known, const std::string& type);
  void recount(const std::string& node, const std::string& driver);
  void rank(const std::string& type, const std::string& driver, const Ranking::value_type& before,
            const Ranking::value_type& now);
  void note(const std::string& type, const std::string& driver, const std::string& node);

  std::map<std::string, Known, std::less<>> nodes_;
  std::map<std::string, Place, std::less<>> places_;                // by slice
  std::map<std::string, std::map<std::string, Ranking>> rankings_;  // by type and driver
  std::shared_ptr<const scheduling::PublishedDevices> devices_;
};

}  // namespace millwright::cluster
