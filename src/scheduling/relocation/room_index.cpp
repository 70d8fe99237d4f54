#include "scheduling/relocation/room_index.hpp"

#include <algorithm>

namespace millwright::scheduling {

RoomIndex::RoomIndex(std::size_t places, std::size_t columns) : places_(places), columns_(columns) {
  while (leaves_ < places) {
    leaves_ *= 2;
  }
  most_.assign(2 * leaves_ * columns_, -1);
}

void RoomIndex::set(std::size_t place, const Amounts& room) {
  std::size_t node = leaves_ + place;
  for (std::size_t column = 0; column < columns_; ++column) {
    most(node, column) = room[column];
  }
  for (node /= 2; node > 0; node /= 2) {
    for (std::size_t column = 0; column < columns_; ++column) {
      most(node, column) = std::max(most(2 * node, column), most(2 * node + 1, column));
    }
  }
}

bool RoomIndex::may_fit(std::size_t node, const Amounts& requests) const {
  const std::int64_t* here = most_.data() + node * columns_;
  for (std::size_t column = 0; column < columns_; ++column) {
    if (here[column] < 0 || requests[column] > here[column]) {
      return false;
    }
  }
  return true;
}

std::optional<std::size_t> RoomIndex::find(const Amounts& requests, std::size_t from) const {
  // From left to right: what fits below a node is looked for, what does not is passed over.
  std::size_t node = leaves_ + from;
  while (from < places_) {
    if (may_fit(node, requests)) {
      if (node >= leaves_) {
        return node - leaves_;
      }
      node *= 2;
      continue;
    }
    while (node % 2 == 1) {
      node /= 2;  // the right child: its parent is done, too
    }
    if (node == 0) {
      return std::nullopt;
    }
    ++node;
  }
  return std::nullopt;
}

}  // namespace millwright::scheduling
