#include "controllers/disruption/settle_times.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace millwright::controllers {
namespace {

using std::chrono::seconds;

base::TimePoint second(std::int64_t s) {
  return base::TimePoint(seconds(s));
}

// With claims of these pools and creation times.
scheduling::Snapshot bought(const std::vector<std::pair<std::string, std::int64_t>>& claims) {
  scheduling::Snapshot snapshot;
  for (const auto& [pool, created] : claims) {
    auto claim = std::make_shared<model::NodeClaim>();
    claim->meta.name = pool + "-" + std::to_string(created);
    claim->meta.labels[std::string(model::kNodePoolLabel)] = pool;
    claim->meta.creation_timestamp = second(created);
    auto record = std::make_shared<scheduling::NodeRecord>();
    record->claim = std::move(claim);
    snapshot.nodes.push_back(std::move(record));
  }
  return snapshot;
}

base::Duration time_of(const SettleTimes& times, const std::string& pool) {
  const auto found = times.by_pool().find(pool);
  return found == times.by_pool().end() ? seconds(15) : found->second;
}

TEST(SettleTimes, GrowWhereWhatWasGivenUpIsBoughtAgain) {
  SettleTimes times(seconds(15), seconds(300));
  times.consolidated("a", second(100));
  times.consolidated("b", second(100));
  times.look(bought({{"a", 90}, {"b", 99}}), second(101));
  EXPECT_EQ(time_of(times, "a"), seconds(15));
  times.look(bought({{"a", 90}, {"a", 110}, {"b", 99}}), second(111));
  EXPECT_EQ(time_of(times, "a"), seconds(30));
  EXPECT_EQ(time_of(times, "b"), seconds(15));
  times.look(bought({{"a", 110}, {"a", 112}}), second(113));
  EXPECT_EQ(time_of(times, "a"), seconds(30)) << "once for each consolidation";
  for (std::int64_t at = 200; at < 300; at += 10) {
    times.consolidated("a", second(at));
    times.look(bought({{"a", at + 1}}), second(at + 2));
  }
  EXPECT_EQ(time_of(times, "a"), seconds(300));
}

// A node is closed at 100 and goes at 130, when its replacement is there.
TEST(SettleTimes, CountWhatIsBoughtWhileAReplacementBoots) {
  SettleTimes times(seconds(15), seconds(300));
  times.consolidated("a", second(100));
  times.consolidated("a", second(130));
  times.look(bought({{"a", 110}}), second(131));
  EXPECT_EQ(time_of(times, "a"), seconds(30));
}

// While one command goes on, another one buys a replacement in the same pool.
TEST(SettleTimes, DoNotCountAReplacementAfterAMinuteEither) {
  SettleTimes times(seconds(15), seconds(300));
  times.consolidated("a", second(100));
  times.replaced_by("a-140", second(140));
  times.consolidated("a", second(155));
  times.consolidated("a", second(195));
  for (const std::int64_t at : {156, 201, 250}) {
    times.look(bought({{"a", 140}}), second(at));
  }
  EXPECT_EQ(time_of(times, "a"), seconds(15));
}

TEST(SettleTimes, ShrinkWhereNothingIsBoughtAgain) {
  SettleTimes times(seconds(15), seconds(300));
  for (const std::int64_t at : {100, 110}) {
    times.consolidated("a", second(at));
    times.look(bought({{"a", at + 1}}), second(at + 2));
  }
  ASSERT_EQ(time_of(times, "a"), seconds(60));
  for (const auto& [at, left] : {std::pair(200, 30), std::pair(300, 15), std::pair(400, 15)}) {
    times.consolidated("a", second(at));
    times.look(bought({{"a", 111}}), second(at + 59));
    times.look(bought({{"a", 111}}), second(at + 60));
    EXPECT_EQ(time_of(times, "a"), seconds(left)) << at;
  }
}

TEST(SettleTimes, GrowNoFurtherThanTheirLimit) {
  SettleTimes times(seconds(15), seconds(60));
  for (std::int64_t at = 100; at < 200; at += 10) {
    times.consolidated("a", second(at));
    times.look(bought({{"a", at + 1}}), second(at + 2));
  }
  EXPECT_EQ(time_of(times, "a"), seconds(60));
}

TEST(SettleTimes, AReplacementIsNoPurchase) {
  SettleTimes times(seconds(15), seconds(300));
  times.consolidated("a", second(100));
  times.replaced_by("a-105", second(104));
  times.look(bought({{"a", 105}}), second(106));
  EXPECT_EQ(time_of(times, "a"), seconds(15));
}

}  // namespace
}  // namespace millwright::controllers
