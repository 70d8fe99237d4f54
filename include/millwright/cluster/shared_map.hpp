// A sorted map from names to values whose copies share almost everything: entries live in small
// immutable chunks, a change replaces one chunk, a copy copies the chunk pointers. So the ledger
// can hand out a complete immutable view after every change. Copies may be read from any thread;
// one map must not be written by two threads at once.
#pragma once

#include "millwright/base/chunk_iterator.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millwright::cluster {

template <class V>
class SharedMap {
 public:
  using value_type = std::pair<std::string, V>;

  using const_iterator = base::ChunkIterator<value_type>;
  using iterator = const_iterator;

  const_iterator begin() const { return {&chunks_, 0, 0}; }
  const_iterator end() const { return {&chunks_, chunks_.size(), 0}; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  const_iterator find(std::string_view key) const {
    const std::size_t chunk = chunk_of(key);
    if (chunk == chunks_.size()) {
      return end();
    }
    const auto& entries = *chunks_[chunk];
    const auto found = lower_bound(entries, key);
    if (found == entries.end() || found->first != key) {
      return end();
    }
    return {&chunks_, chunk, static_cast<std::size_t>(found - entries.begin())};
  }
  bool contains(std::string_view key) const { return find(key) != end(); }
  std::size_t count(std::string_view key) const { return contains(key) ? 1 : 0; }

  void set(std::string_view key, V value) {
    if (chunks_.empty()) {
      chunks_.push_back(std::make_shared<const Chunk>(Chunk{{std::string(key), std::move(value)}}));
      size_ = 1;
      return;
    }
    // A key beyond every chunk goes into the last.
    const std::size_t at = std::min(chunk_of(key), chunks_.size() - 1);
    Chunk entries = *chunks_[at];
    const auto found = lower_bound(entries, key);
    if (found != entries.end() && found->first == key) {
      found->second = std::move(value);
    } else {
      entries.emplace(found, std::string(key), std::move(value));
      ++size_;
    }
    if (entries.size() > kChunk) {
      const auto middle = entries.begin() + static_cast<std::ptrdiff_t>(kChunk / 2);
      Chunk upper(std::make_move_iterator(middle), std::make_move_iterator(entries.end()));
      entries.erase(middle, entries.end());
      chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                     std::make_shared<const Chunk>(std::move(upper)));
    }
    chunks_[at] = std::make_shared<const Chunk>(std::move(entries));
  }

  bool erase(std::string_view key) {
    const std::size_t at = chunk_of(key);
    if (at == chunks_.size()) {
      return false;
    }
    Chunk entries = *chunks_[at];
    const auto found = lower_bound(entries, key);
    if (found == entries.end() || found->first != key) {
      return false;
    }
    entries.erase(found);
    --size_;
    if (at + 1 < chunks_.size() && entries.size() + chunks_[at + 1]->size() <= kChunk / 2) {
      entries.insert(entries.end(), chunks_[at + 1]->begin(), chunks_[at + 1]->end());
      chunks_.erase(chunks_.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    }
    if (entries.empty()) {
      chunks_.erase(chunks_.begin() + static_cast<std::ptrdiff_t>(at));
    } else {
      chunks_[at] = std::make_shared<const Chunk>(std::move(entries));
    }
    return true;
  }

  friend bool operator==(const SharedMap& a, const SharedMap& b) {
    return a.size_ == b.size_ && std::equal(a.begin(), a.end(), b.begin());
  }

 private:
  using Chunk = std::vector<value_type>;
  static constexpr std::size_t kChunk = 32;

  // The first chunk whose last key is not before `key`; chunks are never empty.
  std::size_t chunk_of(std::string_view key) const {
    const auto found = std::partition_point(
        chunks_.begin(), chunks_.end(),
        [key](const auto& chunk) { return std::string_view(chunk->back().first) < key; });
    return static_cast<std::size_t>(found - chunks_.begin());
  }
  template <class Entries>
  static auto lower_bound(Entries& entries, std::string_view key) {
    return std::partition_point(entries.begin(), entries.end(), [key](const value_type& entry) {
      return std::string_view(entry.first) < key;
    });
  }

  std::vector<std::shared_ptr<const Chunk>> chunks_;
  std::size_t size_ = 0;
};

}  // namespace millwright::cluster
