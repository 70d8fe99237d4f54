// Nodes are told why they stay, and the API server is not told too much of it.
#include "controllers/disruption/blocked_news.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace millwright::controllers {
namespace {

using disruption::Blocked;
using disruption::Cause;
using disruption::Kept;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr base::TimePoint kStart{std::chrono::hours(24) * 20461};

Blocked blocked(std::string claim, Cause cause = Cause::NotCheaper, std::string message = "x",
                Kept kept = Kept::FromConsolidation) {
  return {.claim = std::move(claim), .kept = kept, .why = {cause, std::move(message)}};
}

std::vector<Blocked> many(int count) {
  std::vector<Blocked> all;
  for (int i = 0; i < count; ++i) {
    std::array<char, 16> name{};
    std::snprintf(name.data(), name.size(), "c%04d", i);
    all.push_back(blocked(name.data()));
  }
  return all;
}

std::vector<std::string> names(const std::vector<const Blocked*>& due) {
  std::vector<std::string> result;
  for (const auto* each : due) {
    result.push_back(each->claim);
  }
  return result;
}

TEST(BlockedNews, TheSameIsSaidOnceInAQuarterOfAnHour) {
  BlockedNews news;
  EXPECT_THAT(names(news.due({blocked("a")}, kStart)), ElementsAre("a"));
  const std::vector<Blocked> in_other_words{blocked("a", Cause::NotCheaper, "y")};
  EXPECT_THAT(news.due(in_other_words, kStart + minutes(14)), IsEmpty());
  EXPECT_THAT(names(news.due(in_other_words, kStart + minutes(15))), ElementsAre("a"));
}

TEST(BlockedNews, AnotherCauseIsNewsAtOnceButNotEachTimeTheyTakeTurns) {
  BlockedNews news;
  const std::vector<Blocked> one{blocked("a")};
  const std::vector<Blocked> two{blocked("a", Cause::Nominated, "x", Kept::FromDisruption)};
  EXPECT_THAT(news.due(one, kStart), SizeIs(1));
  EXPECT_THAT(news.due(two, kStart + seconds(1)), SizeIs(1));
  for (int second = 2; second < 800; second += 2) {
    EXPECT_THAT(news.due(one, kStart + seconds(second)), IsEmpty());
    EXPECT_THAT(news.due(two, kStart + seconds(second + 1)), IsEmpty());
  }
}

TEST(BlockedNews, NobodyIsToldThatItStaysAsItShould) {
  BlockedNews news;
  const std::vector<Blocked> recent{
      blocked("a", Cause::WithinConsolidateAfter, "x", Kept::AsWanted)};
  EXPECT_THAT(news.due(recent, kStart), IsEmpty());
}

TEST(BlockedNews, OfFiveThousandNodesFiftyAreToldAtOnceAndFiveASecondAfterThat) {
  BlockedNews news;
  const auto all = many(5000);
  std::map<std::string, base::TimePoint> told;
  std::size_t first_minute = 0;
  for (int second = 0; second <= 990; ++second) {
    const auto now = kStart + seconds(second);
    const auto due = news.due(all, now);
    EXPECT_LE(due.size(), second == 0 ? 50U : 5U);
    first_minute += second <= 60 ? due.size() : 0;
    for (const auto& name : names(due)) {
      const auto [found, is_new] = told.try_emplace(name, now);
      EXPECT_TRUE(is_new || now - found->second >= minutes(15)) << name;
      found->second = now;
    }
  }
  EXPECT_EQ(first_minute, 350U);
  EXPECT_THAT(told, SizeIs(5000)) << "each had its turn";
}

TEST(BlockedNews, RoundsThatAreFarApartMayNotSaveUpMoreThanOneBurst) {
  BlockedNews news;
  const auto all = many(5000);
  EXPECT_THAT(news.due(all, kStart), SizeIs(50));
  EXPECT_THAT(news.due(all, kStart + minutes(10)), SizeIs(50));
}

TEST(BlockedNews, ANodeWhoseCauseChangesOftenDoesNotSilenceTheOthers) {
  BlockedNews news;
  auto all = many(200);
  std::set<std::string> told;
  for (int second = 0; second <= 40; ++second) {
    for (int i = 0; i < 20; ++i) {
      all[static_cast<std::size_t>(i)].why.cause = static_cast<Cause>(second % 20);
    }
    for (auto& name : names(news.due(all, kStart + seconds(second)))) {
      told.insert(std::move(name));
    }
  }
  EXPECT_THAT(told, SizeIs(200));
}

}  // namespace
}  // namespace millwright::controllers
