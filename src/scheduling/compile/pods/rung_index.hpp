// Finds the rungs that may go together with given requirements without a look at each rung: where
// every application selects nodes of its own, nearly all pairs of rungs exclude each other.
#pragma once

#include "scheduling/compile/pods/pod_classes.hpp"

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace millwright::scheduling {

// Refers to the rungs of the classes.
class RungIndex {
 public:
  explicit RungIndex(const PodClasses& pods);

  // Ids, in ascending order, of the rungs that admit something in common with the requirements for
  // each key that both have. No other rung can ever join what has these requirements, or more.
  std::vector<std::uint32_t> meeting(const Requirements& requirements) const;
  // Of most pairs of rungs one keeps the other's pods off.
  bool mostly_apart() const;

 private:
  // Rungs that name values of one key. A rung is in one group only.
  struct Group {
    std::vector<std::uint32_t> all;
    std::map<std::string_view, std::vector<std::uint32_t>> by_value;
  };
  void add_to_group(std::uint32_t rung, const Requirement& wanted);

  std::vector<const Requirements*> rungs_;    // by id
  std::map<std::string_view, Group> groups_;  // by key
  std::vector<std::uint32_t> rest_;           // that are in no group
};

}  // namespace millwright::scheduling
