#include "plane/field/figures.hpp"

#include "millwright/base/loop.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::field {
namespace {

namespace json = boost::json;
using std::chrono::seconds;

base::TimePoint figures_at(int second) {
  return base::TimePoint(seconds(second));
}

// What a recorder saw of pods and claims; a claim of type `big` costs 3,600 $/h: a dollar a second.
class FiguresTest : public testing::Test {
 protected:
  void see(const model::Resource& resource, const json::object& object, int second,
           sandbox::Change change = sandbox::Change::Modified) {
    recorder_.take_in(resource, {.change = change,
                                 .object = std::make_shared<const json::value>(object),
                                 .time = figures_at(second)});
  }
  void see_pod(const std::string& name, const std::string& node, int second) {
    see(model::kPodResource,
        {{"apiVersion", "v1"},
         {"kind", "Pod"},
         {"metadata", {{"name", name}, {"namespace", "default"}, {"uid", name}}},
         {"spec", {{"nodeName", node}, {"containers", json::array{}}}}},
        second);
  }
  void see_claim(const std::string& name, int second,
                 sandbox::Change change = sandbox::Change::Modified, const std::string& node = "") {
    see(model::kNodeClaimResource,
        {{"apiVersion", "karpenter.sh/v1"},
         {"kind", "NodeClaim"},
         {"metadata", {{"name", name}, {"uid", name}, {"labels", {{"type", "big"}}}}},
         {"spec", {{"requirements", json::array{}}}},
         {"status", {{"nodeName", node}}}},
        second, change);
  }
  void see_node(const std::string& name, int second) {
    see(model::kNodeResource,
        {{"apiVersion", "v1"},
         {"kind", "Node"},
         {"metadata", {{"name", name}, {"uid", "node " + name}}},
         {"status", {{"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}},
        second);
  }
  Figures figures(const Window& window) const {
    return figures_of(recorder_, window, [](const model::StringMap& labels) {
      return labels.contains("type") ? std::optional(3'600.0) : std::nullopt;
    });
  }

  base::VirtualLoop loop_{figures_at(0)};
  sandbox::Recorder recorder_{loop_};
};

TEST_F(FiguresTest, SecondsCountFromTheBeginning) {
  see_claim("claim", 12);
  see_pod("early", "", 5);  // waits when the phase begins
  see_pod("late", "", 11);
  see_pod("early", "node", 13);
  see_pod("late", "node", 15);
  const Figures seen = figures({.begin = figures_at(10), .end = figures_at(20)});
  EXPECT_EQ(seen.first_claim, 2);
  EXPECT_EQ(seen.all_bound, 5);
  EXPECT_EQ(seen.max_pending, 4);
  EXPECT_EQ(seen.settled, 10);
  EXPECT_EQ(seen.unbound, 0);
  EXPECT_EQ(seen.dollars, 8);
  EXPECT_TRUE(seen.reasons.empty());
}

TEST_F(FiguresTest, NotAllAreBoundWhenOneIsNot) {
  see_pod("bound", "", 11);
  see_pod("bound", "node", 12);
  see_pod("left", "", 11);
  const Figures seen = figures({.begin = figures_at(10), .end = figures_at(20)});
  EXPECT_EQ(seen.all_bound, std::nullopt);
  EXPECT_EQ(seen.reasons.at("allBound"), "1 pods had no node at the end");
  EXPECT_EQ(seen.max_pending, 9);
  EXPECT_EQ(seen.unbound, 1);
}

TEST_F(FiguresTest, WhatNeverSettledHasNoPrice) {
  see_claim("claim", 12);
  const Figures seen = figures({.begin = figures_at(10), .end = figures_at(610), .at_rest = false});
  EXPECT_EQ(seen.settled, std::nullopt);
  EXPECT_EQ(seen.dollars, std::nullopt);
  EXPECT_EQ(seen.reasons.at("settled"), "not at rest after 600 s");
  EXPECT_EQ(to_json(seen).at("dollars"), nullptr);
}

TEST_F(FiguresTest, ClaimsOfAnEarlierPhaseArePaidButNotMade) {
  see_claim("old", 2);
  see_claim("old", 15, sandbox::Change::Deleted);
  const Figures seen = figures({.begin = figures_at(10), .end = figures_at(20)});
  EXPECT_EQ(seen.claims_created, 0);
  EXPECT_EQ(seen.claims_deleted, 1);
  EXPECT_EQ(seen.dollars, 5);
  EXPECT_EQ(seen.first_claim, std::nullopt);
}

TEST_F(FiguresTest, ATimelineTellsWhenAMachineHadPods) {
  using ::testing::ElementsAre;
  using ::testing::Pair;
  see_pod("first", "", 11);
  see_claim("claim", 12);
  see_claim("claim", 12, sandbox::Change::Modified, "node");
  see_claim("never up", 13);
  see_node("node", 14);
  see_pod("first", "node", 15);
  see_pod("second", "node", 16);
  see(model::kPodResource,
      {{"apiVersion", "v1"},
       {"kind", "Pod"},
       {"metadata", {{"name", "first"}, {"namespace", "default"}, {"uid", "first"}}},
       {"spec", {{"nodeName", "node"}, {"containers", json::array{}}}}},
      17, sandbox::Change::Deleted);
  see(model::kPodResource,
      {{"apiVersion", "v1"},
       {"kind", "Pod"},
       {"metadata", {{"name", "second"}, {"namespace", "default"}, {"uid", "second"}}},
       {"spec", {{"nodeName", "node"}, {"containers", json::array{}}}}},
      18, sandbox::Change::Deleted);
  see_claim("claim", 20, sandbox::Change::Deleted, "node");

  const Timeline seen = figures({.begin = figures_at(10), .end = figures_at(30)}).timeline;
  EXPECT_EQ(seen.seconds, 20);
  EXPECT_THAT(seen.waiting, ElementsAre(Pair(1, 1), Pair(5, 0)));
  ASSERT_EQ(seen.machines.size(), 2U);
  EXPECT_EQ(seen.machines[0].bought, 2);
  EXPECT_EQ(seen.machines[0].ready, 4);
  EXPECT_EQ(seen.machines[0].gone, 10);
  EXPECT_EQ(seen.machines[0].price, 3'600);
  EXPECT_THAT(seen.machines[0].used, ElementsAre(Pair(5, 8)));
  EXPECT_EQ(seen.machines[1].ready, std::nullopt);
  EXPECT_THAT(seen.machines[1].used, ::testing::IsEmpty());
}

// A phase ends with the last that moves, which is often a machine that goes.
TEST_F(FiguresTest, AMachineThatGoesAtTheVeryEndIsGone) {
  see_claim("claim", 12);
  see_claim("claim", 20, sandbox::Change::Deleted);
  const Timeline seen = figures({.begin = figures_at(10), .end = figures_at(20)}).timeline;
  ASSERT_EQ(seen.machines.size(), 1U);
  EXPECT_EQ(seen.machines[0].gone, 10);
}

TEST_F(FiguresTest, ASideThatCouldNotBePlayedSaysWhy) {
  const auto written = to_json(no_figures("it did not come up"));
  EXPECT_EQ(written.at("firstClaim"), nullptr);
  EXPECT_EQ(written.at("reasons"), (json::object{{"all", "it did not come up"}}));
}

}  // namespace
}  // namespace millwright::field
