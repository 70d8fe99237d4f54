// Which rows have room, beside a look at each.
#include "scheduling/compile/nodes/node_room_table.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace millwright::scheduling::testing {
namespace {

// Of every order of magnitude, many of them next to each other or equal.
std::int64_t random_amount() {
  const int bits = *rc::gen::inRange(0, 63);
  const std::int64_t about = std::int64_t{1} << bits;
  return about - 1 + *rc::gen::inRange(0, 3);
}

std::vector<Amounts> random_rooms(int rows) {
  std::vector<Amounts> rooms;
  for (int row = 0; row < rows; ++row) {
    rooms.push_back({random_amount() - 1, *rc::gen::inRange<std::int64_t>(-2, 400)});
  }
  return rooms;
}

RC_GTEST_PROP(RoomTableProperty, KeepsTheRowsWithRoom, ()) {
  const std::vector<Amounts> rooms = random_rooms(*rc::gen::inRange(1, 100));
  const RoomTable table(rooms);
  for (int look = 0; look < 20; ++look) {
    const Amounts requests = {random_amount() - 1, *rc::gen::inRange<std::int64_t>(0, 410)};
    RowSet expected(rooms.size());
    for (std::size_t row = 0; row < rooms.size(); ++row) {
      if (fits(requests, rooms[row])) {
        expected.insert(row);
      }
    }
    RowSet kept = RowSet::all(rooms.size());
    RC_ASSERT(table.any_fits(kept, requests) == !expected.empty());
    RC_ASSERT(table.keep_fitting(kept, requests) == !expected.empty());
    RC_ASSERT(expected.empty() || kept == expected);
  }
}

TEST(RoomTable, TheLargestAmountsFitThemselves) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  const RoomTable table({{kMost}, {kMost - 1}, {1}});
  for (const std::int64_t amount : {kMost, kMost - 1, std::int64_t{1}}) {
    RowSet rows = RowSet::all(3);
    EXPECT_TRUE(table.keep_fitting(rows, {amount})) << amount;
    EXPECT_EQ(rows.count(), amount == 1 ? 3U : amount == kMost ? 1U : 2U);
  }
}

}  // namespace
}  // namespace millwright::scheduling::testing
