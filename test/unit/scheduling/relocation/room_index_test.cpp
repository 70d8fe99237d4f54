#include "scheduling/relocation/room_index.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <optional>
#include <vector>

namespace millwright::scheduling {
namespace {

TEST(RoomIndex, FindsTheFirstPlaceWithRoomForAll) {
  RoomIndex index(5, 2);
  EXPECT_FALSE(index.find({0, 0}, 0)) << "none has any room at first";
  index.set(1, {4, 1});
  index.set(3, {2, 2});
  index.set(4, {9, -1});
  EXPECT_EQ(index.find({1, 1}, 0), 1U);
  EXPECT_EQ(index.find({1, 1}, 2), 3U);
  EXPECT_EQ(index.find({1, 2}, 0), 3U);
  EXPECT_FALSE(index.find({3, 2}, 0)) << "no place has both";
  EXPECT_FALSE(index.find({9, 0}, 0)) << "a place that is overfull takes nothing";
  index.close(1);
  EXPECT_EQ(index.find({1, 1}, 0), 3U);
  EXPECT_FALSE(index.find({1, 1}, 4));
  EXPECT_FALSE(index.find({1, 1}, 5));
}

RC_GTEST_PROP(RoomIndex, FindsWhatLookingAtEachPlaceWouldFind, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(0, 20);
  const auto amounts = rc::gen::container<Amounts>(2, rc::gen::inRange<std::int64_t>(-1, 6));
  std::vector<Amounts> rooms(count, Amounts{-1, -1});
  RoomIndex index(count, 2);
  for (int step = 0; count > 0 && step < 30; ++step) {
    const auto place = *rc::gen::inRange<std::size_t>(0, count);
    rooms[place] = *amounts;
    index.set(place, rooms[place]);
    const Amounts wanted = *rc::gen::container<Amounts>(2, rc::gen::inRange<std::int64_t>(0, 6));
    const auto from = *rc::gen::inRange<std::size_t>(0, count + 1);
    std::optional<std::size_t> first;
    for (std::size_t i = from; i < count && !first; ++i) {
      if (fits(wanted, rooms[i])) {
        first = i;
      }
    }
    RC_ASSERT(index.find(wanted, from) == first);
  }
}

}  // namespace
}  // namespace millwright::scheduling
