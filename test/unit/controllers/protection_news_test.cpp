#include "controllers/disruption/protection_news.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

namespace millwright::controllers {
namespace {

using disruption::ProtectedPod;
using disruption::Protection;
using std::chrono::minutes;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr base::TimePoint kFirst{std::chrono::hours(24) * 20461};

std::vector<ProtectedPod> pods_with(Protection protection, int count = 1,
                                    base::TimePoint until = kFirst) {
  std::vector<ProtectedPod> pods;
  for (int i = 0; i < count; ++i) {
    auto pod = std::make_shared<model::Pod>();
    pod->meta.uid = "uid-" + std::to_string(i);
    pods.push_back({.pod = std::move(pod), .protection = protection, .until = until});
  }
  return pods;
}

TEST(ProtectionNews, TheSameIsSaidOnceInAQuarterOfAnHour) {
  ProtectionNews news;
  const auto lasts = pods_with(Protection::Lasts);
  EXPECT_THAT(news.due(lasts, kFirst), SizeIs(1));
  EXPECT_THAT(news.due(lasts, kFirst + minutes(14)), IsEmpty());
  EXPECT_THAT(news.due(lasts, kFirst + minutes(15)), SizeIs(1));
  EXPECT_THAT(news.due(pods_with(Protection::Unreadable), kFirst + minutes(16)), SizeIs(1));
}

TEST(ProtectionNews, ThatAProtectionIsOverIsSaidOnce) {
  ProtectionNews news;
  const auto over = pods_with(Protection::Over);
  EXPECT_THAT(news.due(over, kFirst + minutes(1)), SizeIs(1));
  for (int minute = 2; minute < 60; ++minute) {
    EXPECT_THAT(news.due(over, kFirst + minutes(minute)), IsEmpty()) << minute;
  }
}

TEST(ProtectionNews, ManyPodsTakeTurns) {
  ProtectionNews news;
  const auto many = pods_with(Protection::Lasts, 100);
  EXPECT_THAT(news.due(many, kFirst), SizeIs(50));
  EXPECT_THAT(news.due(many, kFirst + std::chrono::seconds(2)), SizeIs(10));
  EXPECT_THAT(news.due(many, kFirst + std::chrono::seconds(20)), SizeIs(40));
}

}  // namespace
}  // namespace millwright::controllers
