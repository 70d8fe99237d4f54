// Devices as amounts, so that the planner counts them like any other resource.
//
// Pods that ask for one kind of device need as many as there are of it. Where a device answers
// several queries, that is not enough: three pods may each find a device of their own, and two of
// them the same one. By Hall's theorem all find one exactly if, for each set of queries, those who
// ask for any of the set are no more than the devices that answer any of it. So each such set is a
// resource: a node has as much of it as it has devices that answer, and a pod needs as much as it
// asks for of its queries. Sets that say nothing new are left out.
#pragma once

#include "millwright/model/resources.hpp"
#include "scheduling/devices/device_queries.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::scheduling {

// By query: how many devices.
using DeviceCounts = std::map<std::size_t, std::int64_t>;

class DeviceAmounts {
 public:
  // Queries that meet on devices, in a chain or directly; the sets of more are too many.
  static constexpr std::size_t kMostMeeting = 6;

  // `queries` are the names of the queries; `seen` the masks of all devices that there are
  // anywhere.
  DeviceAmounts(const std::vector<std::string>& queries, const std::set<QueryMask>& seen);

  // It meets so many others that pods which ask for it cannot be counted.
  bool is_tangled(std::size_t query) const { return (tangled_ >> query & 1U) != 0; }
  model::ResourceList offered(const std::vector<QueryMask>& devices) const;
  model::ResourceList asked(const DeviceCounts& counts) const;
  bool contains(std::string_view resource) const { return names_.contains(resource); }

 private:
  struct Kind {
    QueryMask queries;
    std::string name;
  };
  void add_sets(QueryMask meeting, const std::vector<std::string>& queries,
                const std::set<QueryMask>& seen);

  std::vector<Kind> kinds_;
  std::set<std::string, std::less<>> names_;
  QueryMask tangled_ = 0;
};

}  // namespace millwright::scheduling
