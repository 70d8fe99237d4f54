// How many pods of each group are on one node or claim, for groups whose domain is the node. Most
// nodes have pods of few groups, so a short list beats a row per group.
#pragma once

#include "scheduling/values/ids.hpp"

#include <cstdint>
#include <vector>

namespace millwright::scheduling {

class HostTally {
 public:
  struct Count {
    TopologyGroupId group;
    std::int32_t selected = 0;  // pods that the group selects
    std::int32_t owners = 0;    // pods that require this anti-affinity
  };

  std::int32_t selected(TopologyGroupId group) const {
    const Count* found = find(group);
    return found == nullptr ? 0 : found->selected;
  }
  std::int32_t owners(TopologyGroupId group) const {
    const Count* found = find(group);
    return found == nullptr ? 0 : found->owners;
  }
  void add_selected(TopologyGroupId group) { ++at(group).selected; }
  void add_owner(TopologyGroupId group) { ++at(group).owners; }
  // One that was added is there no more.
  void remove_selected(TopologyGroupId group) { --at(group).selected; }
  void remove_owner(TopologyGroupId group) { --at(group).owners; }

 private:
  const Count* find(TopologyGroupId group) const {
    for (const Count& count : counts_) {
      if (count.group == group) {
        return &count;
      }
    }
    return nullptr;
  }
  Count& at(TopologyGroupId group) {
    for (Count& count : counts_) {
      if (count.group == group) {
        return count;
      }
    }
    if (counts_.empty()) {
      counts_.reserve(4);
    }
    return counts_.emplace_back(Count{group, 0, 0});
  }
  std::vector<Count> counts_;
};

}  // namespace millwright::scheduling
