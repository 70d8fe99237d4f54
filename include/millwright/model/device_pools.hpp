// The pools of devices that drivers publish, each in one or several ResourceSlices.
#pragma once

#include "millwright/model/devices.hpp"

#include <memory>
#include <string>
#include <vector>

namespace millwright::model {

using ResourceSlicePtr = std::shared_ptr<const ResourceSlice>;

// The node whose devices they are: the one that it names, or the Node that owns it. Empty: several
// nodes reach them.
const std::string& node_of(const ResourceSlice& slice);

struct DevicePool {
  std::string driver;
  std::string name;
  std::vector<ResourceSlicePtr> slices;  // of its newest generation, sorted by name
  // All of them are there, and no two devices have one name. kube-scheduler gives out no device of
  // another pool.
  bool complete = false;
};

// What the slices make up, sorted by driver and name. They are those of one node, or of all that a
// node reaches: drivers may give pools of several nodes one name.
std::vector<DevicePool> device_pools(const std::vector<ResourceSlicePtr>& slices);

}  // namespace millwright::model
