// A set of rows of an instance type table, one bit each: most questions about "which types can
// still hold this claim" are a few word-wide operations on these.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace millwright::scheduling {

class RowSet {
 public:
  RowSet() = default;
  explicit RowSet(std::size_t rows) : words_((rows + 63) / 64, 0) {}
  static RowSet all(std::size_t rows) {
    RowSet set(rows);
    for (auto& word : set.words_) {
      word = ~std::uint64_t{0};
    }
    if (rows % 64 != 0) {
      set.words_.back() = bit(rows) - 1;
    }
    return set;
  }

  void insert(std::size_t row) { words_[row / 64] |= bit(row); }
  void erase(std::size_t row) { words_[row / 64] &= ~bit(row); }
  bool contains(std::size_t row) const { return (words_[row / 64] & bit(row)) != 0; }

  bool empty() const {
    for (const auto word : words_) {
      if (word != 0) {
        return false;
      }
    }
    return true;
  }
  std::size_t count() const {
    std::size_t total = 0;
    for (const auto word : words_) {
      total += static_cast<std::size_t>(std::popcount(word));
    }
    return total;
  }

  std::size_t word_count() const { return words_.size(); }
  std::uint64_t word(std::size_t index) const { return words_[index]; }
  // Those that are in the set whose words these are, too.
  void keep(const std::uint64_t* words) {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      words_[i] &= words[i];
    }
  }

  // Operands are sets over the same table.
  RowSet& operator&=(const RowSet& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      words_[i] &= other.words_[i];
    }
    return *this;
  }
  RowSet& operator|=(const RowSet& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      words_[i] |= other.words_[i];
    }
    return *this;
  }
  RowSet& operator-=(const RowSet& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      words_[i] &= ~other.words_[i];
    }
    return *this;
  }
  friend RowSet operator&(RowSet a, const RowSet& b) { return a &= b; }
  bool intersects(const RowSet& other) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if ((words_[i] & other.words_[i]) != 0) {
        return true;
      }
    }
    return false;
  }
  friend bool operator==(const RowSet&, const RowSet&) = default;

  // Ascending.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (auto word = words_[i]; word != 0; word &= word - 1) {
        visit(i * 64 + static_cast<std::size_t>(std::countr_zero(word)));
      }
    }
  }

 private:
  static std::uint64_t bit(std::size_t row) { return std::uint64_t{1} << (row % 64); }
  std::vector<std::uint64_t> words_;
};

}  // namespace millwright::scheduling
