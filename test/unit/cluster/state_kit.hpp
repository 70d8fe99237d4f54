// What tests of the state ask of it, and pods of one ReplicaSet.
#pragma once

#include "millwright/cluster/state.hpp"
#include "unit/cluster/objects.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millwright::testing {

// A pod of the ReplicaSet "web".
inline PodBuilder web(const std::string& name) {
  return std::move(PodBuilder(name).requests(100).owned_by("web"));
}

inline scheduling::Reservation room(const std::string& target, std::int32_t count,
                                    std::int64_t until = 60) {
  return reservation_for(web("web-1").value(), target, until, count);
}

// "web on n: 2"
inline std::vector<std::string> kept(cluster::State& state) {
  std::vector<std::string> lines;
  for (const scheduling::Reservation& each : state.snapshot()->reservations) {
    lines.push_back(std::string(each.group.owner_uid()) + " on " + each.target + ": " +
                    std::to_string(each.count));
  }
  return lines;
}

inline scheduling::NodeRecordPtr record_of(cluster::State& state, std::string_view name) {
  for (const auto& record : state.snapshot()->nodes) {
    if (record->name() == name) {
      return record;
    }
  }
  return nullptr;
}

}  // namespace millwright::testing
