#include "unit/extender/world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace millwright::extender {
namespace {

using testing::at;
using testing::ClaimBuilder;
using testing::names_request;
using testing::NodeBuilder;
using testing::PodBuilder;
using testing::scores;
using testing::World;

TEST(ExtenderScores, FullerNodesAttractMore) {
  World world;
  for (const int used : {0, 300, 600, 800}) {
    const std::string name = "n" + std::to_string(used);
    world.state.upsert(NodeBuilder(name).allocatable(1000, 1000).build());
    world.state.upsert(PodBuilder("p" + name).on(name).requests(used, used).build());
  }
  const auto got = scores(world.extender().prioritize(names_request(
      PodBuilder("p").requests(100, 100).value(), {"n0", "n300", "n600", "n800", "unknown"})));
  EXPECT_EQ(got, (std::map<std::string, int>{{"n0", 1}, {"n300", 4}, {"n600", 6}, {"n800", 8}}));
}

TEST(ExtenderScores, NothingBeatsTheNodeThatKeepsRoomForThePod) {
  World world;
  // Reserved on the claim, before it had its node.
  world.keep(PodBuilder("p").requests(100), "claim-own", 60);
  world.add_young_node("own", 10000, 0);
  world.add_young_node("full", 1000, 0);
  world.state.upsert(PodBuilder("q").on("full").requests(900).build());
  const auto got = scores(world.extender().prioritize(
      names_request(PodBuilder("p").requests(100).value(), {"full", "own"})));
  EXPECT_EQ(got, (std::map<std::string, int>{{"full", 9}, {"own", 10}}));
}

TEST(ExtenderScores, NodesThatGoOrMayGoAttractLittle) {
  World world;
  const auto busy = [&](const std::string& name) {
    world.add_young_node(name, 1000, 0);
    world.state.upsert(PodBuilder("on-" + name).on(name).requests(700).build());
  };
  busy("normal");
  busy("marked");
  world.state.mark_for_deletion("claim-marked", true);
  busy("fenced");
  world.ledger.fence({"fenced", "Empty", at(0)});
  busy("drifted");
  world.state.upsert(ClaimBuilder("claim-drifted")
                         .provider("p-drifted")
                         .condition("Initialized")
                         .condition(model::kDrifted)
                         .build());
  busy("expiring");
  world.state.upsert(ClaimBuilder("claim-expiring")
                         .provider("p-expiring")
                         .created(-3600 * 23)
                         .expire_after("24h")
                         .build());
  busy("fresh");
  world.state.upsert(
      ClaimBuilder("claim-fresh").provider("p-fresh").created(-3600).expire_after("24h").build());
  busy("lasting");
  world.state.upsert(ClaimBuilder("claim-lasting")
                         .provider("p-lasting")
                         .created(-3600)
                         .expire_after("2562047h")
                         .build());
  world.add_young_node("empty", 300, 0);
  world.state.upsert(PodBuilder("agent").on("empty").requests(100).owned_by_daemon_set().build());
  world.add_young_node("awaited", 300, 0);
  world.keep(PodBuilder("planned").requests(100), "awaited", 60);
  const auto got = scores(world.extender().prioritize(names_request(
      PodBuilder("p").requests(100).value(), {"normal", "marked", "fenced", "drifted", "expiring",
                                              "fresh", "lasting", "empty", "awaited"})));
  EXPECT_EQ(got, (std::map<std::string, int>{{"normal", 7},
                                             {"drifted", 2},
                                             {"expiring", 1},
                                             {"fresh", 7},
                                             {"lasting", 7},
                                             {"empty", 1},
                                             {"awaited", 6}}));
}

TEST(ExtenderScores, CountOnlyReservationsThatBindThisPod) {
  World world;
  const auto busy = [&](const std::string& name) {
    world.add_young_node(name, 1000, 0);
    world.state.upsert(PodBuilder("on-" + name).on(name).requests(300).build());
  };
  const auto keep = [&](const std::string& pod, const std::string& node, std::int64_t milli_cpu,
                        std::int64_t until, std::int32_t priority) {
    world.keep(PodBuilder(pod).requests(milli_cpu).priority(priority), node, until);
  };
  busy("kept");
  keep("a", "kept", 400, 60, 5);
  busy("expired");
  keep("b", "expired", 400, 0, 5);
  busy("split");
  keep("c", "split", 200, 60, 5);
  keep("d", "split", 200, 60, 0);
  keep("e", "split", 200, 0, 5);
  const std::vector<std::string> nodes{"kept", "expired", "split"};
  const auto ask = [&](std::int32_t priority) {
    return scores(world.extender().prioritize(
        names_request(PodBuilder("p").requests(100).priority(priority).value(), nodes)));
  };
  EXPECT_EQ(ask(0), (std::map<std::string, int>{{"kept", 7}, {"expired", 4}, {"split", 7}}));
  EXPECT_EQ(ask(3), (std::map<std::string, int>{{"kept", 7}, {"expired", 4}, {"split", 5}}));
  EXPECT_EQ(ask(9), (std::map<std::string, int>{{"kept", 4}, {"expired", 4}, {"split", 4}}));
  world.now = at(60);
  EXPECT_EQ(ask(0), (std::map<std::string, int>{{"kept", 4}, {"expired", 4}, {"split", 4}}));
}

TEST(ExtenderScores, SayNothingBeforeTheFirstListsAreComplete) {
  World world;
  world.state.upsert(NodeBuilder("n").allocatable(1000).build());
  world.state.set_synced(false);
  const auto got = scores(
      world.extender().prioritize(names_request(PodBuilder("p").requests(900).value(), {"n"})));
  EXPECT_TRUE(got.empty());
}

// The extender follows snapshots by what changed; a fresh one starts from nothing.
TEST(ExtenderScores, AreTheSameWhetherTheExtenderIsOldOrNew) {
  const bool held = rc::check([] {
    World world;
    const auto old_one = world.extender();
    std::vector<std::string> names;
    for (int i = 0; i < 6; ++i) {
      names.push_back("n" + std::to_string(i));
    }
    const model::Pod pod = PodBuilder("p").requests(100).value();
    const auto steps =
        *rc::gen::arbitrary<std::vector<std::tuple<std::uint8_t, std::uint8_t, std::uint8_t>>>();
    for (const auto& [kind, node, amount] : steps) {
      const std::string& name = names[node % names.size()];
      switch (kind % 5) {
        case 0:
          world.state.remove<model::Node>({"", name});
          break;
        case 1:
          world.state.upsert(ClaimBuilder(name).provider("p-" + name).build());
          break;
        case 2:
          world.state.mark_for_deletion(name, amount % 2 == 0);
          break;
        case 3:
          world.state.upsert(PodBuilder("q" + std::to_string(amount % 9))
                                 .uid(std::to_string(amount % 9))
                                 .on(name)
                                 .requests(amount)
                                 .build());
          break;
        default:
          world.state.upsert(
              NodeBuilder(name).provider("p-" + name).allocatable(300 + amount).build());
      }
      if (kind % 3 == 0) {
        world.state.snapshot();
        old_one.prioritize(names_request(pod, names));
      }
    }
    const auto new_one = world.extender();
    RC_ASSERT(old_one.prioritize(names_request(pod, names)).body ==
              new_one.prioritize(names_request(pod, names)).body);
    RC_ASSERT(old_one.filter(names_request(pod, names)).body ==
              new_one.filter(names_request(pod, names)).body);
  });
  EXPECT_TRUE(held);
}

}  // namespace
}  // namespace millwright::extender
