#include "cluster/published_device_table.hpp"

#include <algorithm>
#include <cstddef>

namespace millwright::cluster {
namespace {

using scheduling::PublishedDevice;
using Slices = std::map<std::string, model::ResourceSlicePtr, std::less<>>;

std::vector<model::DevicePool> pools_of(const Slices& slices) {
  std::vector<model::ResourceSlicePtr> list;
  for (const auto& [name, slice] : slices) {
    list.push_back(slice);
  }
  return model::device_pools(list);
}

std::size_t count_devices(const Slices& slices) {
  std::size_t count = 0;
  for (const model::DevicePool& pool : pools_of(slices)) {
    if (!pool.complete) {
      return 0;
    }
    for (const auto& slice : pool.slices) {
      count += slice->devices.size();
    }
  }
  return count;
}

std::vector<PublishedDevice> devices_of(const Slices& slices) {
  std::vector<PublishedDevice> devices;
  for (const model::DevicePool& pool : pools_of(slices)) {
    const auto begin = static_cast<std::ptrdiff_t>(devices.size());
    for (const auto& slice : pool.slices) {
      for (const model::Device& device : slice->devices) {
        devices.push_back({.driver = pool.driver, .device = device});
      }
    }
    std::sort(devices.begin() + begin, devices.end(),
              [](const auto& a, const auto& b) { return a.device.name < b.device.name; });
  }
  return devices;
}

struct ByDriver {
  bool operator()(const PublishedDevice& device, const std::string& driver) const {
    return device.driver < driver;
  }
  bool operator()(const std::string& driver, const PublishedDevice& device) const {
    return driver < device.driver;
  }
};

}  // namespace

void PublishedDeviceTable::put(const model::Node& node) {
  const std::string& type = node.meta.label(model::kInstanceTypeLabel);
  const auto known = nodes_.find(node.meta.name);
  if (known != nodes_.end()) {
    retype(node.meta.name, known->second, type);
  } else if (!type.empty()) {
    nodes_.emplace(node.meta.name, Known{.type = type, .drivers = {}});
  }
}

void PublishedDeviceTable::put(const model::ResourceSlicePtr& slice) {
  const std::string& name = slice->meta.name;
  const auto place = places_.find(name);
  if (place != places_.end() &&
      (place->second.node != slice->node_name || place->second.driver != slice->driver)) {
    erase_slice(name);
  }
  if (slice->node_name.empty()) {
    return;  // several nodes reach these: another node will not bring more of them
  }
  places_.insert_or_assign(name, Place{.node = slice->node_name, .driver = slice->driver});
  nodes_[slice->node_name].drivers[slice->driver].slices[name] = slice;
  recount(slice->node_name, slice->driver);
}

void PublishedDeviceTable::erase_node(std::string_view name) {
  const auto known = nodes_.find(name);
  if (known == nodes_.end()) {
    return;
  }
  retype(known->first, known->second, {});
  if (known->second.drivers.empty()) {
    nodes_.erase(known);
  }
}

void PublishedDeviceTable::erase_slice(std::string_view name) {
  const auto found = places_.find(name);
  if (found == places_.end()) {
    return;
  }
  const Place place = std::move(found->second);
  places_.erase(found);
  const auto known = nodes_.find(place.node);
  auto& drivers = known->second.drivers;
  auto& slices = drivers[place.driver].slices;
  slices.erase(slices.find(name));
  recount(place.node, place.driver);
  if (slices.empty()) {
    drivers.erase(place.driver);
  }
  if (drivers.empty() && known->second.type.empty()) {
    nodes_.erase(known);
  }
}

void PublishedDeviceTable::retype(const std::string& node, Known& known, const std::string& type) {
  if (known.type == type) {
    return;
  }
  const std::string before = std::exchange(known.type, type);
  for (const auto& [driver, offer] : known.drivers) {
    rank(before, driver, {offer.devices, node}, {0, node});
    rank(type, driver, {0, node}, {offer.devices, node});
  }
}

void PublishedDeviceTable::recount(const std::string& node, const std::string& driver) {
  Known& known = nodes_.find(node)->second;
  Offer& offer = known.drivers[driver];
  const std::size_t now = count_devices(offer.slices);
  rank(known.type, driver, {std::exchange(offer.devices, now), node}, {now, node});
}

// A node without devices has no rank.
void PublishedDeviceTable::rank(const std::string& type, const std::string& driver,
                                const Ranking::value_type& before, const Ranking::value_type& now) {
  if (type.empty() || (before.first == 0 && now.first == 0)) {
    return;
  }
  Ranking& ranking = rankings_[type][driver];
  const std::string first = ranking.empty() ? std::string() : ranking.begin()->second;
  ranking.erase(before);
  if (now.first > 0) {
    ranking.insert(now);
  }
  if (!ranking.empty() &&
      (ranking.begin()->second != first || ranking.begin()->second == now.second)) {
    note(type, driver, ranking.begin()->second);
  }
}

void PublishedDeviceTable::note(const std::string& type, const std::string& driver,
                                const std::string& node) {
  const auto devices = devices_of(nodes_.find(node)->second.drivers[driver].slices);
  std::vector<PublishedDevice> of_type;
  if (devices_ != nullptr && devices_->contains(type)) {
    of_type = devices_->find(type)->second;
  }
  const auto [begin, end] = std::equal_range(of_type.begin(), of_type.end(), driver, ByDriver());
  if (std::equal(begin, end, devices.begin(), devices.end())) {
    return;
  }
  of_type.insert(of_type.erase(begin, end), devices.begin(), devices.end());
  auto next = devices_ == nullptr ? std::make_shared<scheduling::PublishedDevices>()
                                  : std::make_shared<scheduling::PublishedDevices>(*devices_);
  (*next)[type] = std::move(of_type);
  devices_ = std::move(next);
}

}  // namespace millwright::cluster
