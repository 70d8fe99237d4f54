// A map from 64-bit hashes to small numbers, in one block of memory: for sets that one call asks
// thousands of times. Many threads may read one at once.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace millwright::base {

class HashIndex {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  std::size_t size() const { return size_; }
  bool contains(std::uint64_t hash) const { return find(hash) != kNone; }
  // kNone when the hash is not known.
  std::uint32_t find(std::uint64_t hash) const {
    return slots_.empty() ? kNone : slots_[slot_of(hash)].number;
  }
  // The number that the hash has from now on: the one it had, else `number`.
  std::uint32_t put(std::uint64_t hash, std::uint32_t number) {
    if (2 * (size_ + 1) > slots_.size()) {
      grow();
    }
    Slot& slot = slots_[slot_of(hash)];
    if (slot.number == kNone) {
      slot = {hash, number};
      ++size_;
    }
    return slot.number;
  }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t number = kNone;  // kNone: free
  };

  // The hash's, or the free one where it belongs. There is always a free one.
  std::size_t slot_of(std::uint64_t hash) const {
    std::size_t slot = hash & (slots_.size() - 1);
    while (slots_[slot].number != kNone && slots_[slot].hash != hash) {
      slot = (slot + 1) & (slots_.size() - 1);
    }
    return slot;
  }
  void grow() {
    std::vector<Slot> old(std::bit_ceil(4 * (size_ + 1)));
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.number != kNone) {
        slots_[slot_of(slot.hash)] = slot;
      }
    }
  }

  std::vector<Slot> slots_;  // a power of two of them
  std::size_t size_ = 0;
};

}  // namespace millwright::base
