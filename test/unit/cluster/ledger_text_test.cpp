#include "millwright/cluster/ledger.hpp"
#include "unit/cluster/objects.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>

namespace millwright::cluster {
namespace {

using scheduling::Reservation;
using testing::at;
using ::testing::HasSubstr;
using testing::reservation;

TEST(ReservationsText, IsReadableAndSorted) {
  Reservation first = reservation("web-1", "n", 1500, 30, 7);
  first.group = scheduling::GroupId("uid-a/00ff");
  first.sample.namespace_ = "shop";
  first.count = 3;
  Reservation second = reservation("web-2", "n", 250, 0);
  second.group = scheduling::GroupId("uid-b/*");
  EXPECT_EQ(encode_reservations({second, first}),
            R"([{"group":"uid-a/00ff","count":3,"pod":"shop/web-1",)"
            R"("requests":{"cpu":"1500m","pods":"1"},"priority":7,)"
            R"("until":"2026-01-01T00:00:30.000000Z"},)"
            R"({"group":"uid-b/*","count":1,"pod":"default/web-2",)"
            R"("requests":{"cpu":"250m","pods":"1"},"priority":0,)"
            R"("until":"2026-01-01T00:00:00.000000Z"}])");
  EXPECT_EQ(encode_reservations({}), "[]");
  EXPECT_EQ(encode_fence({"n", "Empty", at(1)}),
            R"({"reason":"Empty","since":"2026-01-01T00:00:01.000000Z"})");
}

// A buffer's room has no end by itself; another replica must know it for what it is.
TEST(ReservationsText, ABuffersRoomIsReadBackAsABuffers) {
  Reservation buffer = reservation("web-1", "n", 100, 60);
  buffer.group = scheduling::GroupId::of_owner("web");
  buffer.of_buffer = true;
  const auto decoded = decode_reservations(encode_reservations({buffer}), "n");
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(*decoded, std::vector{buffer});
}

TEST(ReservationsText, IsReadBackAsItWasWritten) {
  const bool held = rc::check([](std::vector<std::tuple<std::uint16_t, std::int32_t>> raw) {
    std::vector<Reservation> reservations;
    for (const auto& [number, priority] : raw) {
      reservations.push_back(reservation(std::to_string(reservations.size() + 100), "n", number,
                                         number % 600, priority));
      reservations.back().count = 1 + number % 7;
      reservations.back().requests.emplace("example.com/gpu", model::Quantity::from_units(number));
    }
    const auto decoded = decode_reservations(encode_reservations(reservations), "n");
    RC_ASSERT(decoded.has_value());
    std::sort(reservations.begin(), reservations.end(),
              [](const auto& a, const auto& b) { return a.group < b.group; });
    RC_ASSERT(*decoded == reservations);
  });
  EXPECT_TRUE(held);
  const Fence fence{"n", "Under \"quotes\"", at(12345)};
  EXPECT_EQ(decode_fence(encode_fence(fence), "n"), fence);
}

TEST(ReservationsText, MalformedAnnotationsAreRefusedWithThePlace) {
  const auto with = [](const std::string& field, const std::string& value) {
    std::map<std::string, std::string> fields{
        {"group", R"("u/1")"}, {"count", "1"},    {"pod", R"("a/b")"},
        {"requests", "{}"},    {"priority", "0"}, {"until", R"("2026-01-01T00:00:00Z")"}};
    fields[field] = value;
    std::string text;
    for (const auto& [name, each] : fields) {
      if (!each.empty()) {
        text += (text.empty() ? "{\"" : ",\"") + name + "\":" + each;
      }
    }
    return text + "}";
  };
  const std::string good = with("count", "1");
  EXPECT_TRUE(decode_reservations("[" + good + "]", "n").has_value());
  EXPECT_TRUE(decode_reservations("[" + with("requests", "") + "]", "n").has_value());
  EXPECT_TRUE(decode_reservations("[" + with("priority", "") + "]", "n").has_value());
  const std::pair<std::string, std::string> cases[] = {
      {"", "reservations of n is not JSON"},
      {"[", "not JSON"},
      {"{}", "must be a JSON array"},
      {"[1]", "reservations of n[0] must be an object"},
      {"[" + good + ",{}]", "reservations of n[1].group"},
      {"[" + with("group", "7") + "]", ".group must be"},
      {"[" + with("group", R"("u")") + "]", ".group must be"},
      {"[" + with("group", R"("/1")") + "]", ".group must be"},
      {"[" + with("group", R"("u/")") + "]", ".group must be"},
      {"[" + with("count", "") + "]", ".count must be"},
      {"[" + with("count", "0") + "]", ".count must be above 0"},
      {"[" + with("count", "-1") + "]", ".count must be above 0"},
      {"[" + with("count", "1.5") + "]", ".count must be"},
      {"[" + with("count", "100001") + "]", ".count must be at most 100000"},
      {"[" + with("count", "9999999999") + "]", ".count must be"},
      {"[" + with("pod", R"("nameless")") + "]", ".pod must be"},
      {"[" + with("pod", R"("a/")") + "]", ".pod must be"},
      {"[" + with("pod", "") + "]", ".pod must be"},
      {"[" + with("until", "") + "]", ".until must be"},
      {"[" + with("until", R"("soon")") + "]", ".until must be an RFC 3339"},
      {"[" + with("requests", "[]") + "]", ".requests must be an object"},
      {"[" + with("requests", R"({"cpu":1})") + "]", ".requests.cpu must be"},
      {"[" + with("requests", R"({"cpu":"x"})") + "]", ".requests.cpu"},
      {"[" + with("priority", "9999999999") + "]", ".priority must be"},
      {"[" + with("priority", R"("1")") + "]", ".priority must be"},
      {"[" + good + "," + good + "]", "twice"},
      {"[[[[[[[[[[[[]]]]]]]]]]]]", "not JSON"},
  };
  for (const auto& [text, message] : cases) {
    const auto decoded = decode_reservations(text, "n");
    ASSERT_FALSE(decoded.has_value()) << text;
    EXPECT_EQ(decoded.error().kind, base::ErrorKind::Invalid);
    EXPECT_THAT(decoded.error().message, HasSubstr(message)) << text;
  }
  for (const std::string text :
       {"", "[]", R"({"reason":"Empty"})", R"({"since":"x"})", R"({"reason":"Empty","since":5})"}) {
    EXPECT_FALSE(decode_fence(text, "n").has_value()) << text;
  }
}

TEST(ReservationsText, AnyBytesAreRefusedOrReadButNeverCrash) {
  const bool held = rc::check([](const std::string& text) {
    const auto decoded = decode_reservations(text, "n");
    RC_ASSERT(decoded.has_value() || !decoded.error().message.empty());
    RC_ASSERT(!decode_fence(text, "n").has_value());
  });
  EXPECT_TRUE(held);
}

}  // namespace
}  // namespace millwright::cluster
