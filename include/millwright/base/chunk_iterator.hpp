// Walks over the elements of shared immutable chunks, one chunk after the other. No chunk is empty.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <vector>

namespace millwright::base {

template <class T>
class ChunkIterator {
 public:
  using Chunks = std::vector<std::shared_ptr<const std::vector<T>>>;
  using iterator_category = std::forward_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using pointer = const T*;
  using reference = const T&;

  ChunkIterator() = default;
  // At `position` of the chunk with index `chunk`; the end is position 0 of the chunk after the
  // last.
  ChunkIterator(const Chunks* chunks, std::size_t chunk, std::size_t position = 0)
      : chunks_(chunks), chunk_(chunk), position_(position) {}

  reference operator*() const { return (*(*chunks_)[chunk_])[position_]; }
  pointer operator->() const { return &**this; }
  ChunkIterator& operator++() {
    if (++position_ == (*chunks_)[chunk_]->size()) {
      ++chunk_;
      position_ = 0;
    }
    return *this;
  }
  ChunkIterator operator++(int) {
    ChunkIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const ChunkIterator& a, const ChunkIterator& b) {
    return a.chunk_ == b.chunk_ && a.position_ == b.position_;
  }

 private:
  const Chunks* chunks_ = nullptr;
  std::size_t chunk_ = 0;
  std::size_t position_ = 0;
};

}  // namespace millwright::base
