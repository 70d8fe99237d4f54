#include "scheduling/compile/nodes/node_room_table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace millwright::scheduling {
namespace {

// As RoomTable::bucket_of() counts them: those of 63 bits.
constexpr std::size_t kBuckets = (63 - 3) * 16;

}  // namespace

RoomTable::RoomTable(std::vector<Amounts> room_by_row)
    : room_(std::move(room_by_row)), usable_(room_.size()) {
  for (std::size_t row = 0; row < room_.size(); ++row) {
    if (std::none_of(room_[row].begin(), room_[row].end(), [](auto a) { return a < 0; })) {
      usable_.insert(row);
    }
  }
  const std::size_t column_count = room_.empty() ? 0 : room_.front().size();
  columns_.resize(column_count);
  for (std::size_t c = 0; c < column_count; ++c) {
    Column& column = columns_[c];
    for (const Amounts& amounts : room_) {
      column.amounts.push_back(amounts[c]);
    }
    std::sort(column.amounts.begin(), column.amounts.end());
    column.amounts.erase(std::unique(column.amounts.begin(), column.amounts.end()),
                         column.amounts.end());
    column.first.reserve(kBuckets + 1);
    for (std::size_t bucket = 0, i = 0; bucket <= kBuckets; ++bucket) {
      while (i < column.amounts.size() &&
             (column.amounts[i] <= 0 ? 0 : bucket_of(column.amounts[i])) < bucket) {
        ++i;
      }
      column.first.push_back(static_cast<std::uint32_t>(i));
    }
    // From the largest amount down: each set is the one before and the rows with just that much.
    const std::size_t words = usable_.word_count();
    column.at_least.assign(column.amounts.size() * words, 0);
    for (std::size_t row = 0; row < room_.size(); ++row) {
      const auto at = std::lower_bound(column.amounts.begin(), column.amounts.end(), room_[row][c]);
      const auto set = static_cast<std::size_t>(at - column.amounts.begin());
      column.at_least[set * words + row / 64] |= std::uint64_t{1} << (row % 64);
    }
    for (std::size_t i = column.at_least.size(); i-- > words;) {
      column.at_least[i - words] |= column.at_least[i];
    }
  }
}

std::size_t RoomTable::bucket_of(std::int64_t amount) {
  const auto value = static_cast<std::uint64_t>(amount);
  const auto width = static_cast<std::size_t>(std::bit_width(value));
  return width < 5 ? value : (width - 4) * 16 + (value >> (width - 5)) % 16;
}

const std::uint64_t* RoomTable::at_least(const Column& column, std::int64_t amount) const {
  const std::size_t bucket = bucket_of(amount);
  const auto from = column.amounts.begin();
  const auto at =
      std::lower_bound(from + column.first[bucket], from + column.first[bucket + 1], amount);
  return at == column.amounts.end()
             ? nullptr
             : &column.at_least[static_cast<std::size_t>(at - column.amounts.begin()) *
                                usable_.word_count()];
}

bool RoomTable::any_fits(const RowSet& rows, const Amounts& requests) const {
  // The loop over words is the outer one: nothing is copied, and most answers need one word.
  constexpr std::size_t kMaxSets = 16;
  std::array<const std::uint64_t*, kMaxSets> sets{};
  std::size_t count = 0;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (requests[c] <= 0) {
      continue;
    }
    if (count == kMaxSets) {
      RowSet copy = rows;
      return keep_fitting(copy, requests);
    }
    sets[count] = at_least(columns_[c], requests[c]);
    if (sets[count++] == nullptr) {
      return false;
    }
  }
  for (std::size_t i = 0; i < rows.word_count(); ++i) {
    std::uint64_t word = rows.word(i) & usable_.word(i);
    for (std::size_t s = 0; s < count && word != 0; ++s) {
      word &= sets[s][i];
    }
    if (word != 0) {
      return true;
    }
  }
  return false;
}

bool RoomTable::keep_fitting(RowSet& rows, const Amounts& requests) const {
  rows &= usable_;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (requests[c] <= 0) {
      continue;
    }
    const std::uint64_t* set = at_least(columns_[c], requests[c]);
    if (set == nullptr) {
      return false;
    }
    rows.keep(set);
  }
  return !rows.empty();
}

}  // namespace millwright::scheduling
