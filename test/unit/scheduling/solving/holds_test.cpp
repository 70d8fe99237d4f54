// Promises of earlier plans are kept.
#include "unit/scheduling/builders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::scheduling::testing {
namespace {

Hold hold(std::string uid, std::string target, std::string_view cpu) {
  return {.pod_uid = std::move(uid),
          .target = std::move(target),
          .requests = resources({{"cpu", cpu}, {"pods", "1"}})};
}

ProblemBuilder two_nodes(std::vector<Hold> holds) {
  return ProblemBuilder().add(node("a")).add(node("b")).with(
      [&](Problem& problem) { problem.holds = std::move(holds); });
}

TEST(Holds, APodGoesToItsTargetThoughAnotherNodeComesFirst) {
  EXPECT_EQ(place_of(two_nodes({hold("p", "b", "1")}).add(pod("p").cpu("1")).solve(), "p"), "b");
  EXPECT_EQ(place_of(two_nodes({hold("p", "claim-b", "1")}).add(pod("p").cpu("1")).solve(), "p"),
            "b");
}

TEST(Holds, APromisedPodIsPlacedBeforeLargerOnes) {
  const Plan plan =
      two_nodes({hold("p", "a", "1")}).add(pod("big").cpu("4")).add(pod("p").cpu("1")).solve();
  EXPECT_EQ(place_of(plan, "p"), "a");
  EXPECT_EQ(place_of(plan, "big"), "b");
}

TEST(Holds, RoomForPodsElsewhereIsNotGivenAway) {
  const Plan plan = two_nodes({hold("other", "a", "2")}).add(pod("p").cpu("3")).solve();
  EXPECT_EQ(place_of(plan, "p"), "b");
}

TEST(Holds, ATargetThatNoLongerFitsIsLeft) {
  const Plan plan = two_nodes({hold("p", "b", "1")})
                        .add(pod("p").cpu("1").selects(model::kHostnameLabel, "a"))
                        .solve();
  EXPECT_EQ(place_of(plan, "p"), "a");
}

TEST(Holds, AVanishedTargetIsForgotten) {
  const Plan plan = two_nodes({hold("p", "gone", "1"), hold("other", "gone", "1")})
                        .add(pod("p").cpu("1"))
                        .solve();
  EXPECT_EQ(place_of(plan, "p"), "a");
}

TEST(Holds, OfAPodThatArrivedIsNotCountedTwice) {
  const Plan plan =
      ProblemBuilder()
          .add(node("a").runs(pod("bound").cpu("2")))
          .with([](Problem& problem) { problem.holds.push_back(hold("bound", "a", "2")); })
          .add(pod("p").cpu("2"))
          .solve();
  EXPECT_EQ(place_of(plan, "p"), "a");
}

}  // namespace
}  // namespace millwright::scheduling::testing
