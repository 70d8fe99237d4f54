// The first of many places with room for these requests, in logarithmic time: a tree over the
// places whose inner nodes know the most of each resource that any place below has.
#pragma once

#include "scheduling/values/amounts.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace millwright::scheduling {

class RoomIndex {
 public:
  // Places without any room.
  RoomIndex(std::size_t places, std::size_t columns);

  void set(std::size_t place, const Amounts& room);
  void close(std::size_t place) { set(place, Amounts(columns_, -1)); }
  // Not before `from`; nullopt when there is none.
  std::optional<std::size_t> find(const Amounts& requests, std::size_t from) const;

 private:
  bool may_fit(std::size_t node, const Amounts& requests) const;
  std::int64_t& most(std::size_t node, std::size_t column) {
    return most_[node * columns_ + column];
  }

  std::size_t places_;
  std::size_t columns_;
  std::size_t leaves_ = 1;          // a power of two
  std::vector<std::int64_t> most_;  // by node (the root is 1, leaves come last), by column
};

}  // namespace millwright::scheduling
