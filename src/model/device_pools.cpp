#include "millwright/model/device_pools.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace millwright::model {

const std::string& node_of(const ResourceSlice& slice) {
  if (slice.node_name.empty()) {
    for (const OwnerReference& owner : slice.meta.owner_references) {
      if (owner.kind == "Node") {
        return owner.name;
      }
    }
  }
  return slice.node_name;
}

namespace {

bool has_a_name_twice(const std::vector<ResourceSlicePtr>& slices) {
  std::set<std::string_view> names;
  return std::any_of(slices.begin(), slices.end(), [&](const auto& slice) {
    return std::any_of(slice->devices.begin(), slice->devices.end(),
                       [&](const Device& device) { return !names.insert(device.name).second; });
  });
}

}  // namespace

std::vector<DevicePool> device_pools(const std::vector<ResourceSlicePtr>& slices) {
  std::map<std::pair<std::string_view, std::string_view>, std::vector<ResourceSlicePtr>> by_pool;
  for (const ResourceSlicePtr& slice : slices) {
    auto& known = by_pool[{slice->driver, slice->pool}];
    // A driver replaces its slices one by one: those of an earlier generation count no more.
    if (!known.empty() && known.front()->generation < slice->generation) {
      known.clear();
    }
    if (known.empty() || known.front()->generation == slice->generation) {
      known.push_back(slice);
    }
  }
  std::vector<DevicePool> pools;
  for (auto& [key, newest] : by_pool) {
    std::sort(newest.begin(), newest.end(),
              [](const auto& a, const auto& b) { return a->meta.name < b->meta.name; });
    const auto count = static_cast<std::int64_t>(newest.size());
    const bool complete = std::all_of(newest.begin(), newest.end(), [&](const auto& slice) {
      return slice->slices_in_pool == count;
    });
    const bool usable = complete && !has_a_name_twice(newest);
    pools.push_back({.driver = std::string(key.first),
                     .name = std::string(key.second),
                     .slices = std::move(newest),
                     .complete = usable});
  }
  return pools;
}

}  // namespace millwright::model
