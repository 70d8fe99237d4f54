// Promises of earlier plans are kept.
#include "unit/scheduling/builders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::scheduling::testing {
namespace {

KeptRoom kept(std::string target, std::string_view cpu, std::string pod_uid = {},
              std::string_view pods = "1") {
  return {.target = std::move(target),
          .pod_uid = std::move(pod_uid),
          .requests = resources({{"cpu", cpu}, {"pods", pods}})};
}

// Of four CPUs and five pods each.
ProblemBuilder two_nodes(std::vector<KeptRoom> kept_room) {
  return ProblemBuilder().add(node("a")).add(node("b")).with(
      [&](Problem& problem) { problem.kept = std::move(kept_room); });
}

TEST(KeptRoom, APodGoesToItsTargetThoughAnotherNodeComesFirst) {
  EXPECT_EQ(place_of(two_nodes({kept("b", "1", "p")}).add(pod("p").cpu("1")).solve(), "p"), "b");
  EXPECT_EQ(place_of(two_nodes({kept("claim-b", "1", "p")}).add(pod("p").cpu("1")).solve(), "p"),
            "b");
}

TEST(KeptRoom, APromisedPodIsPlacedBeforeLargerOnes) {
  const Plan plan =
      two_nodes({kept("a", "1", "p")}).add(pod("big").cpu("4")).add(pod("p").cpu("1")).solve();
  EXPECT_EQ(place_of(plan, "p"), "a");
  EXPECT_EQ(place_of(plan, "big"), "b");
}

TEST(KeptRoom, PodsOfOneGroupShareWhatIsPromisedThem) {
  const Plan plan = two_nodes({kept("b", "1", "p-1000"), kept("b", "1", "p-1002"), kept("b", "1")})
                        .add(pods(4, "p", pod("like").cpu("1")))
                        .solve();
  EXPECT_EQ(place_of(plan, "p-1000"), "b");
  EXPECT_EQ(place_of(plan, "p-1002"), "b");
  EXPECT_EQ(place_of(plan, "p-1001"), "a");
  EXPECT_EQ(place_of(plan, "p-1003"), "a");
}

TEST(KeptRoom, OfOthersIsNotGivenAway) {
  struct Case {
    const char* what;
    std::vector<KeptRoom> kept;
    std::string place;  // of a pod of two CPUs
  };
  const std::vector<Case> cases{
      {"nothing is kept", {}, "a"},
      {"what is left is enough", {kept("a", "2")}, "a"},
      {"what is left is too little", {kept("a", "2001m")}, "b"},
      {"under the claim's name", {kept("claim-a", "3")}, "b"},
      {"for several together", {kept("a", "1500m"), kept("a", "1")}, "b"},
      {"no more pods may come", {kept("a", "1", {}, "5")}, "b"},
      {"one more pod may come", {kept("a", "1", {}, "4")}, "a"},
      {"for a pod that is not to be placed", {kept("a", "3", "somebody")}, "b"},
      {"everywhere", {kept("a", "3"), kept("b", "3")}, ""},
      {"more than there is", {kept("a", "9")}, "b"},
  };
  for (const auto& each : cases) {
    EXPECT_EQ(place_of(two_nodes(each.kept).add(pod("p").cpu("2")).solve(), "p"), each.place)
        << each.what;
  }
}

TEST(KeptRoom, HostPortsOfOthersAreTaken) {
  KeptRoom for_others = kept("a", "1");
  for_others.sample = pod("other").host_port(80);
  for_others.pods = 1;
  const auto place = [&](std::int32_t port) {
    return place_of(two_nodes({for_others}).add(pod("p").host_port(port)).solve(), "p");
  };
  EXPECT_EQ(place(80), "b");
  EXPECT_EQ(place(81), "a");
}

TEST(KeptRoom, ATargetThatNoLongerFitsIsLeft) {
  const Plan plan = two_nodes({kept("b", "1", "p")})
                        .add(pod("p").cpu("1").selects(model::kHostnameLabel, "a"))
                        .solve();
  EXPECT_EQ(place_of(plan, "p"), "a");
}

TEST(KeptRoom, AVanishedTargetIsForgotten) {
  const Plan plan =
      two_nodes({kept("gone", "1", "p"), kept("gone", "4")}).add(pod("p").cpu("1")).solve();
  EXPECT_EQ(place_of(plan, "p"), "a");
}

}  // namespace
}  // namespace millwright::scheduling::testing
