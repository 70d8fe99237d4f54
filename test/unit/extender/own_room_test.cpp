// Where the pods of a group go that has room reserved.
#include "unit/extender/world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::extender {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::names_request;
using testing::passing;
using testing::PodBuilder;
using ::testing::SizeIs;
using testing::World;

// Asks for one pod after the other, and tells where each passes. No binding is seen.
std::vector<std::string> where_all_pass(World& world, const std::vector<model::Pod>& pods,
                                        const std::vector<std::string>& nodes) {
  const auto extender = world.extender();
  std::vector<std::string> lines;
  for (const model::Pod& pod : pods) {
    std::string line;
    for (const std::string& node : passing(extender.filter(names_request(pod, nodes)))) {
      line += (line.empty() ? "" : " ") + node;
    }
    lines.push_back(line);
  }
  return lines;
}

TEST(ExtenderPolicy, APodOfAGroupWithAllItsRoomPassesToTheTargetWithMostRoomLeft) {
  World world;
  for (const char* const name : {"a", "b", "c", "other"}) {
    world.add_young_node(name, 4000, 0);
  }
  const auto pods = world.add_waiting("set", 6, 100);
  world.ledger.reserve(testing::reservation_for(pods[0], "a", 60, 1));
  world.ledger.reserve(testing::reservation_for(pods[0], "b", 60, 3));
  world.ledger.reserve(testing::reservation_for(pods[0], "c", 60, 2));
  EXPECT_THAT(where_all_pass(world, pods, {"other", "c", "b", "a"}),
              ElementsAre("b", "b", "c", "a", "b", "c"));
}

TEST(ExtenderPolicy, OnlyTargetsThatAreOfferedAreChosen) {
  World world;
  for (const char* const name : {"a", "b", "other"}) {
    world.add_young_node(name, 4000, 0);
  }
  const auto pods = world.add_waiting("set", 3, 100);
  world.ledger.reserve(testing::reservation_for(pods[0], "a", 60, 1));
  world.ledger.reserve(testing::reservation_for(pods[0], "b", 60, 2));
  EXPECT_THAT(where_all_pass(world, {pods[0]}, {"other", "a"}), ElementsAre("a"));
  EXPECT_THAT(world.refused, IsEmpty());
  EXPECT_THAT(where_all_pass(world, {pods[1]}, {"other"}), ElementsAre(""));
  ASSERT_THAT(world.refused, SizeIs(1));
  EXPECT_THAT(world.refused[0].not_offered, ElementsAre("b"))
      << "a is full once the first has arrived";
}

TEST(ExtenderPolicy, AClaimWhoseLaunchFailsKeepsItsPodsFromNothing) {
  World world;
  world.add_young_node("other", 4000, 0);
  const auto pods = world.add_waiting("set", 2, 100);
  world.ledger.reserve(testing::reservation_for(pods[0], "claim", 60, 2));
  const auto tell = [&world](const char* reason) {
    auto claim = *testing::ClaimBuilder("claim").build();
    claim.conditions = {{.type = "Launched", .reason = reason}};
    world.state.upsert(std::make_shared<const model::NodeClaim>(std::move(claim)));
  };
  tell("AwaitingReconciliation");
  EXPECT_THAT(where_all_pass(world, pods, {"other"}), ElementsAre("", ""));
  tell("LaunchFailed");
  EXPECT_THAT(where_all_pass(world, pods, {"other"}), ElementsAre("other", "other"));
}

TEST(ExtenderPolicy, NoMorePodsGoElsewhereThanRoomIsMissingFor) {
  struct Group {
    const char* what;
    int need;
    std::int32_t reserved;
    std::string target;
    int elsewhere;  // so many may pass to "other"
    int nowhere;
  };
  const Group groups[] = {
      {"nothing is reserved", 3, 0, "claim", 3, 0}, {"all is on its way", 3, 3, "claim", 0, 3},
      {"some is on its way", 5, 2, "claim", 3, 2},  {"all is there", 3, 3, "own", 0, 0},
      {"some is there", 5, 3, "own", 2, 0},
  };
  for (const Group& one : groups) {
    World world;
    world.add_young_node("own", 4000, 0);
    world.add_young_node("other", 4000, 0);
    const auto pods = world.add_waiting("set", one.need, 100);
    world.ledger.reserve(testing::reservation_for(pods[0], one.target, 60, one.reserved));
    // Where the room is still to come, its node is not there to be offered.
    const std::vector<std::string> offered = one.target == "own"
                                                 ? std::vector<std::string>{"other", "own"}
                                                 : std::vector<std::string>{"other"};
    int elsewhere = 0;
    int nowhere = 0;
    for (const std::string& line : where_all_pass(world, pods, offered)) {
      elsewhere += line.find("other") != std::string::npos ? 1 : 0;
      nowhere += line.empty() ? 1 : 0;
    }
    EXPECT_EQ(elsewhere, one.elsewhere) << one.what;
    EXPECT_EQ(nowhere, one.nowhere) << one.what;
    EXPECT_THAT(world.refused, SizeIs(static_cast<std::size_t>(one.nowhere))) << one.what;
  }
}

// Once the one that went elsewhere is bound, the rest still keep to what is reserved.
TEST(ExtenderPolicy, ABindingElsewhereLeavesTheRestToTheirRoom) {
  World world;
  world.add_young_node("other", 4000, 0);
  const auto pods = world.add_waiting("set", 2, 100);
  world.ledger.reserve(testing::reservation_for(pods[0], "claim", 60));
  EXPECT_THAT(where_all_pass(world, pods, {"other"}), ElementsAre("other", ""));
  world.state.upsert(PodBuilder("set-0").requests(100).owned_by("set").on("other").build());
  EXPECT_THAT(where_all_pass(world, {pods[1]}, {"other"}), ElementsAre(""));
  EXPECT_EQ(world.ledger.view()->reserved(scheduling::group_of(pods[1])), 1);
}

}  // namespace
}  // namespace millwright::extender
