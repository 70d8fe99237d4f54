// "Which rows have room for these requests?" answered by one binary search per resource and a few
// word-wide ANDs: for every distinct amount of a resource, the set of rows with at least as much.
#pragma once

#include "scheduling/compile/pools/row_set.hpp"
#include "scheduling/values/amounts.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace millwright::scheduling {

class RoomTable {
 public:
  RoomTable() = default;
  // Rows with a negative amount never fit anything (a DaemonSet does not fit them).
  explicit RoomTable(std::vector<Amounts> room_by_row);

  const Amounts& room(std::size_t row) const { return room_[row]; }
  const RowSet& usable() const { return usable_; }
  // Takes out the rows that are too small; false when none is left.
  bool keep_fitting(RowSet& rows, const Amounts& requests) const;
  // Whether keep_fitting() would leave any.
  bool any_fits(const RowSet& rows, const Amounts& requests) const;

 private:
  struct Column {
    std::vector<std::int64_t> amounts;    // distinct, ascending
    std::vector<std::uint64_t> at_least;  // by amount, the words of the set of rows
    std::vector<std::uint32_t> first;     // by bucket: the first amount of it or a later one
  };
  // Amounts that are about as large: a sixteenth of a power of two. Larger ones are in later
  // buckets.
  static std::size_t bucket_of(std::int64_t amount);
  // The words of the rows with at least so much, which is more than nothing; null when there are
  // none.
  const std::uint64_t* at_least(const Column& column, std::int64_t amount) const;
  std::vector<Amounts> room_;
  std::vector<Column> columns_;
  RowSet usable_;
};

}  // namespace millwright::scheduling
