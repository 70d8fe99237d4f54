#include "controllers/provisioning/draft_timer.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace millwright::controllers {
namespace {

using std::chrono::milliseconds;

constexpr base::TimePoint kFirstPlan{std::chrono::hours(1)};
constexpr auto kIdle = milliseconds(60);
constexpr auto kMax = milliseconds(1000);

DraftTimer::Drafts wanted(std::initializer_list<std::pair<std::string, std::int32_t>> groups) {
  DraftTimer::Drafts result;
  for (const auto& [name, count] : groups) {
    result.emplace(scheduling::GroupId(name), count);
  }
  return result;
}

struct Step {
  int at;  // milliseconds after kFirstPlan
  DraftTimer::Drafts wanted;
};

// When drafts are due after these steps, in milliseconds after kFirstPlan; -1: never.
std::int64_t due_after(const std::vector<Step>& steps) {
  DraftTimer timer(kMax);
  for (const auto& step : steps) {
    timer.update(step.wanted, kIdle, kFirstPlan + milliseconds(step.at));
  }
  const auto due = timer.due();
  return due ? std::chrono::duration_cast<milliseconds>(*due - kFirstPlan).count() : -1;
}

TEST(DraftTimer, HasNothingDueWhenThereAreNoDrafts) {
  DraftTimer timer(kMax);
  EXPECT_EQ(timer.due(), std::nullopt);
  timer.update({}, kIdle, kFirstPlan);
  EXPECT_EQ(timer.due(), std::nullopt);
}

TEST(DraftTimer, WaitsUntilDemandHasStoodStill) {
  const auto one = wanted({{"a", 1}});
  const auto two = wanted({{"a", 2}});
  struct Case {
    const char* name;
    std::vector<Step> steps;
    std::int64_t due;
  };
  const std::vector<Case> cases{
      {"the first pod", {{0, one}}, 60},
      {"the same again", {{0, one}, {50, one}}, 60},
      {"long ago", {{0, one}, {500, one}}, 60},
      {"one more", {{0, one}, {50, two}}, 110},
      {"one less", {{0, two}, {50, one}}, 60},
      {"one less, then one more", {{0, two}, {20, one}, {50, two}}, 110},
      {"another group, too", {{0, one}, {50, wanted({{"a", 1}, {"b", 1}})}}, 110},
      {"another group instead", {{0, one}, {50, wanted({{"b", 1}})}}, 110},
      {"one group less", {{0, wanted({{"a", 1}, {"b", 1}})}, {50, one}}, 60},
      {"one grows while another shrinks",
       {{0, wanted({{"a", 5}, {"b", 1}})}, {50, wanted({{"a", 1}, {"b", 2}})}},
       110},
      {"one more after it was due", {{0, one}, {300, two}}, 360},
  };
  for (const auto& each : cases) {
    EXPECT_EQ(due_after(each.steps), each.due) << each.name;
  }
}

TEST(DraftTimer, WaitsNoLongerThanTheMostFromTheFirstPodOn) {
  std::vector<Step> steps;
  for (int i = 0; i <= 40; ++i) {
    steps.push_back({i * 50, wanted({{"a", i + 1}})});
    EXPECT_EQ(due_after(steps), std::min(i * 50 + 60, 1000)) << i;
  }
  steps.push_back({2000, wanted({{"b", 1}})});
  EXPECT_EQ(due_after(steps), 1000) << "another group, but something has been wanted all the time";
}

TEST(DraftTimer, WaitsAsLongAsIsAskedLast) {
  const auto one = wanted({{"a", 1}});
  DraftTimer timer(kMax);
  timer.update(one, milliseconds(300), kFirstPlan);
  EXPECT_EQ(timer.due(), kFirstPlan + milliseconds(300));
  timer.update(one, kMax, kFirstPlan + milliseconds(200));
  EXPECT_EQ(timer.due(), kFirstPlan + kMax);
  timer.update(one, kIdle, kFirstPlan + milliseconds(400));
  EXPECT_EQ(timer.due(), kFirstPlan + kIdle);
}

TEST(DraftTimer, BeginsAnewOnceAllIsPlanned) {
  const auto one = wanted({{"a", 1}});
  EXPECT_EQ(due_after({{0, one}, {30, {}}, {980, one}}), 1040);
  EXPECT_EQ(due_after({{0, one}, {30, {}}, {40, one}}), 100) << "even for the same demand";
  EXPECT_EQ(due_after({{0, one}, {30, {}}}), -1);
}

}  // namespace
}  // namespace millwright::controllers
