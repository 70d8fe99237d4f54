#include "millwright/cluster/ledger.hpp"
#include "unit/cluster/objects.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace millwright::cluster {
namespace {

using testing::at;
using ::testing::HasSubstr;
using testing::hold;

TEST(HoldsText, IsReadableAndSorted) {
  scheduling::Hold first = hold("web-1", "n", 1500, 30, 7);
  first.pod.namespace_ = "shop";
  first.owner_uid = "uid-web";
  EXPECT_EQ(encode_holds({hold("web-2", "n", 250, 0), first}),
            R"([{"pod":"shop/web-1","uid":"uid-web-1","requests":{"cpu":"1500m","pods":"1"},)"
            R"("priority":7,"deadline":"2026-01-01T00:00:30.000000Z","owner":"uid-web"},)"
            R"({"pod":"default/web-2","uid":"uid-web-2","requests":{"cpu":"250m","pods":"1"},)"
            R"("priority":0,"deadline":"2026-01-01T00:00:00.000000Z"}])");
  EXPECT_EQ(encode_holds({}), "[]");
  EXPECT_EQ(encode_fence({"n", "Empty", at(1)}),
            R"({"reason":"Empty","since":"2026-01-01T00:00:01.000000Z"})");
}

// Clusters that run an earlier version have these texts on their NodeClaims.
TEST(HoldsText, TheKindOfAHoldIsAPrefixOfTheUid) {
  using scheduling::HoldKind;
  const std::pair<HoldKind, std::string> cases[] = {
      {HoldKind::Pod, R"("uid":"uid-a")"},
      {HoldKind::Successor, R"("uid":"successor-of/uid-a")"},
      {HoldKind::Buffer, R"("uid":"successor-of/capacity-buffer/uid-a")"}};
  std::vector<scheduling::Hold> all;
  for (const auto& [kind, text] : cases) {
    auto one = hold("a", "n", 1, 60);
    one.kind = kind;
    all.push_back(one);
    const std::string written = encode_holds({one});
    EXPECT_THAT(written, HasSubstr(text));
    EXPECT_EQ(decode_holds(written, "n").value(), std::vector{one});
  }
  EXPECT_EQ(decode_holds(encode_holds(all), "n").value(), all) << "three holds for one pod's room";
}

TEST(HoldsText, IsReadBackAsItWasWritten) {
  const bool held = rc::check([](std::vector<std::tuple<std::uint16_t, std::int32_t>> raw) {
    std::vector<scheduling::Hold> holds;
    for (const auto& [number, priority] : raw) {
      holds.push_back(
          hold(std::to_string(holds.size() + 100), "n", number, number % 600, priority));
      holds.back().owner_uid = number % 2 == 0 ? "" : "owner";
      holds.back().requests.emplace("example.com/gpu", model::Quantity::from_units(number));
    }
    const auto decoded = decode_holds(encode_holds(holds), "n");
    RC_ASSERT(decoded.has_value());
    std::sort(holds.begin(), holds.end(),
              [](const auto& a, const auto& b) { return a.id() < b.id(); });
    RC_ASSERT(*decoded == holds);
  });
  EXPECT_TRUE(held);
  const Fence fence{"n", "Under \"quotes\"", at(12345)};
  EXPECT_EQ(decode_fence(encode_fence(fence), "n"), fence);
}

TEST(HoldsText, MalformedAnnotationsAreRefusedWithThePlace) {
  const std::string good =
      R"("pod":"a/b","uid":"u","requests":{},"priority":0,"deadline":"2026-01-01T00:00:00Z")";
  EXPECT_TRUE(decode_holds("[{" + good + "}]", "n").has_value());
  const std::pair<std::string, std::string> cases[] = {
      {"", "holds of n is not JSON"},
      {"[", "not JSON"},
      {"{}", "must be a JSON array"},
      {"[1]", "holds of n[0] must be an object"},
      {"[{" + good + "},{}]", "holds of n[1].pod"},
      {R"([{"pod":"nameless","uid":"u","deadline":"2026-01-01T00:00:00Z"}])", ".pod must be"},
      {R"([{"pod":"a/","uid":"u","deadline":"2026-01-01T00:00:00Z"}])", ".pod must be"},
      {R"([{"pod":"a/b","uid":"","deadline":"2026-01-01T00:00:00Z"}])", ".uid must be"},
      {"[{" + good + R"(,"owner":1}])", ".owner must be"},
      {R"([{"pod":"a/b","uid":"u"}])", ".deadline must be"},
      {R"([{"pod":"a/b","uid":"u","deadline":"soon"}])", ".deadline must be an RFC 3339"},
      {R"([{"pod":"a/b","uid":"u","deadline":"2026-01-01T00:00:00Z","requests":[]}])",
       ".requests must be an object"},
      {R"([{"pod":"a/b","uid":"u","deadline":"2026-01-01T00:00:00Z","requests":{"cpu":1}}])",
       ".requests.cpu must be"},
      {R"([{"pod":"a/b","uid":"u","deadline":"2026-01-01T00:00:00Z","requests":{"cpu":"x"}}])",
       ".requests.cpu"},
      {R"([{"pod":"a/b","uid":"u","deadline":"2026-01-01T00:00:00Z","priority":9999999999}])",
       ".priority must be"},
      {R"([{"pod":"a/b","uid":"u","deadline":"2026-01-01T00:00:00Z","priority":"1"}])",
       ".priority must be"},
      {"[{" + good + "},{" + good + "}]", "twice"},
      {"[[[[[[[[[[[[]]]]]]]]]]]]", "not JSON"},
  };
  for (const auto& [text, message] : cases) {
    const auto decoded = decode_holds(text, "n");
    ASSERT_FALSE(decoded.has_value()) << text;
    EXPECT_EQ(decoded.error().kind, base::ErrorKind::Invalid);
    EXPECT_THAT(decoded.error().message, HasSubstr(message)) << text;
  }
  for (const std::string text :
       {"", "[]", R"({"reason":"Empty"})", R"({"since":"x"})", R"({"reason":"Empty","since":5})"}) {
    EXPECT_FALSE(decode_fence(text, "n").has_value()) << text;
  }
}

TEST(HoldsText, AnyBytesAreRefusedOrReadButNeverCrash) {
  const bool held = rc::check([](const std::string& text) {
    const auto holds = decode_holds(text, "n");
    RC_ASSERT(holds.has_value() || !holds.error().message.empty());
    RC_ASSERT(!decode_fence(text, "n").has_value());
  });
  EXPECT_TRUE(held);
}

}  // namespace
}  // namespace millwright::cluster
