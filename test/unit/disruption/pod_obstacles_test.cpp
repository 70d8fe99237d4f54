#include "millwright/disruption/pod_obstacles.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::disruption {
namespace {

using std::chrono::minutes;
using testing::HasSubstr;

const base::TimePoint kLooked(std::chrono::hours(480'000));

model::Pod pod_of(const std::string& app) {
  model::Pod pod;
  pod.meta.namespace_ = "shop";
  pod.meta.name = app + "-1";
  pod.meta.labels["app"] = app;
  return pod;
}

std::shared_ptr<model::PodDisruptionBudget> budget_of(const std::string& app) {
  auto budget = std::make_shared<model::PodDisruptionBudget>();
  budget->meta.namespace_ = "shop";
  budget->meta.name = "keep-" + app;
  budget->selector.emplace().match_labels["app"] = app;
  return budget;
}

TEST(DoNotDisrupt, MayBeADurationSinceThePodStarted) {
  struct Case {
    const char* value;
    std::optional<base::TimePoint> started;
    bool active;
  };
  const Case cases[] = {{"true", std::nullopt, true},
                        {"false", std::nullopt, false},
                        {"", std::nullopt, false},
                        {"nonsense", std::nullopt, false},
                        {"-5m", kLooked, false},
                        {"10m", std::nullopt, true},
                        {"10m", kLooked - minutes(9), true},
                        {"10m", kLooked - minutes(10), false},
                        {"2562047h", kLooked, true}};
  for (const auto& each : cases) {
    auto pod = pod_of("web");
    pod.meta.annotations[std::string(model::kDoNotDisruptAnnotation)] = each.value;
    pod.status.start_time = each.started;
    EXPECT_EQ(do_not_disrupt_until(pod, kLooked).has_value(), each.active) << each.value;
  }
}

TEST(DoNotDisrupt, IsWorthTellingUnlessItIsTrueOrFalse) {
  struct Case {
    const char* value;
    std::optional<base::TimePoint> started;
    std::optional<Protection> protection;
    std::optional<base::TimePoint> until;
  };
  const Case cases[] = {
      {"true", kLooked, {}, {}},
      {"false", kLooked, {}, {}},
      {"", kLooked, {}, {}},
      {"nonsense", kLooked, Protection::Unreadable, {}},
      {"-5m", kLooked, Protection::Unreadable, {}},
      {"10m", {}, Protection::Lasts, {}},
      {"10m", kLooked - minutes(9), Protection::Lasts, kLooked + minutes(1)},
      {"10m", kLooked - minutes(10), Protection::Over, kLooked},
      {"2562047h", kLooked, Protection::Lasts, {}},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.value);
    auto pod = std::make_shared<model::Pod>(pod_of("web"));
    pod->meta.annotations[std::string(model::kDoNotDisruptAnnotation)] = each.value;
    pod->status.start_time = each.started;
    const auto told = timed_protection(pod, kLooked);
    ASSERT_EQ(told.has_value(), each.protection.has_value());
    if (told) {
      EXPECT_EQ(told->protection, *each.protection);
      if (each.until) {
        EXPECT_EQ(told->until, each.until);
      }
      EXPECT_EQ(told->pod, pod);
    }
    pod->meta.deletion_timestamp = kLooked;
    EXPECT_FALSE(timed_protection(pod, kLooked));
  }
}

TEST(PodObstacles, ABudgetThatNeverAllowsAnythingIsNotPlannedFor) {
  struct Case {
    const char* min_available;
    const char* max_unavailable;
    bool reschedulable;
  };
  const Case cases[] = {{"", "0", false},  {"", "0%", false}, {"100%", "", false}, {"", "1", true},
                        {"", "50%", true}, {"1", "", true},   {"99%", "", true},   {"", "", true}};
  for (const auto& each : cases) {
    const auto budget = budget_of("web");
    budget->min_available = each.min_available;
    budget->max_unavailable = each.max_unavailable;
    const std::vector<std::shared_ptr<const model::PodDisruptionBudget>> budgets{budget};
    const PodObstacles obstacles(budgets, kLooked);
    EXPECT_EQ(obstacles.is_currently_reschedulable(pod_of("web")), each.reschedulable)
        << each.min_available << " " << each.max_unavailable;
    EXPECT_TRUE(obstacles.is_currently_reschedulable(pod_of("other")));
  }
}

TEST(PodObstacles, APodThatMustNotBeDisruptedIsNotPlannedForUntilItMay) {
  auto pod = pod_of("web");
  pod.meta.annotations[std::string(model::kDoNotDisruptAnnotation)] = "10m";
  pod.status.start_time = kLooked;
  EXPECT_FALSE(PodObstacles({}, kLooked + minutes(9)).is_currently_reschedulable(pod));
  EXPECT_TRUE(PodObstacles({}, kLooked + minutes(10)).is_currently_reschedulable(pod));
}

TEST(PodObstacles, TheAnnotationIsNamedBeforeAUsedUpBudget) {
  const std::vector<std::shared_ptr<const model::PodDisruptionBudget>> budgets{budget_of("web")};
  const PodObstacles obstacles(budgets, kLooked);
  auto web = std::make_shared<model::Pod>(pod_of("web"));
  auto precious = std::make_shared<model::Pod>(pod_of("precious"));
  precious->meta.annotations[std::string(model::kDoNotDisruptAnnotation)] = "true";
  const auto budget_only = obstacles.find({web});
  ASSERT_TRUE(budget_only);
  EXPECT_THAT(budget_only->message, HasSubstr("shop/keep-web"));
  const auto both = obstacles.find({web, precious});
  ASSERT_TRUE(both);
  EXPECT_THAT(both->message, HasSubstr("precious-1"));
  EXPECT_FALSE(obstacles.find({std::make_shared<model::Pod>(pod_of("free"))}));
}

}  // namespace
}  // namespace millwright::disruption
