#include "millwright/scheduling/relocation.hpp"

#include "unit/scheduling/topology/topology_builders.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <list>
#include <string>
#include <vector>

namespace millwright::scheduling::testing {
namespace {

// Nodes of four CPUs with pods that may have to move.
class Moving : public ::testing::Test {
 protected:
  void add(NodeBuilder on, const std::vector<PodBuilder>& residents = {}) {
    const NodeRecordPtr record = on;
    for (PodBuilder each : residents) {
      const PodPtr bound = each.with([&](model::Pod& p) { p.spec.node_name = record->name(); });
      on.runs(bound);
      problem_.add(std::vector<PodPtr>{bound});
    }
    problem_.add(on);
  }
  // Places are tried in this order.
  Relocation relocation(const std::vector<std::string>& order) {
    return Relocation(problem_.problem(), order, memories_.emplace_back());
  }

  ProblemBuilder problem_;
  std::list<PlanMemory> memories_;
};

TEST_F(Moving, ANodeGoesIfItsPodsFindPlacesElsewhere) {
  add(node("a"), {pod("p").cpu("2")});
  add(node("b"), {pod("q").cpu("3")});
  add(node("c"), {pod("r").cpu("1")});
  auto moving = relocation({"c", "b", "a"});
  EXPECT_TRUE(moving.remove("a")) << "p goes to c";
  EXPECT_FALSE(moving.remove("b")) << "c has one CPU left";
  EXPECT_FALSE(moving.remove("a")) << "it is gone";
  EXPECT_FALSE(moving.remove("nowhere"));
}

TEST_F(Moving, WhatFailsChangesNothing) {
  add(node("a"), {pod("p").cpu("2"), pod("q").cpu("2")});
  add(node("b"), {pod("r").cpu("2")});
  add(node("c"), {pod("s").cpu("2")});
  auto moving = relocation({"b"});
  EXPECT_FALSE(moving.remove("a")) << "b has room for one of the two";
  EXPECT_TRUE(moving.remove("c")) << "and has it still";
  EXPECT_FALSE(moving.remove("a"));
}

TEST_F(Moving, ANodeThatStaysTakesPodsAgain) {
  add(node("a"), {pod("p").cpu("1"), pod("q").cpu("2")});
  add(node("b"), {pod("r").cpu("3")});
  add(node("c"), {pod("s").cpu("1")});
  auto moving = relocation({"a"});
  EXPECT_FALSE(moving.remove("a")) << "there is no other place";
  EXPECT_TRUE(moving.remove("c"));
  EXPECT_FALSE(moving.remove("b")) << "it is full now";
}

TEST_F(Moving, PodsMoveOnWithTheNodeThatTookThem) {
  add(node("a"), {pod("p").cpu("2")});
  add(node("b"), {pod("q").cpu("2")});
  add(node("c"), {pod("r").cpu("1")});
  auto moving = relocation({"b", "c"});
  EXPECT_TRUE(moving.remove("a")) << "p goes to b";
  EXPECT_FALSE(moving.remove("b")) << "p and q ask for four CPUs, c has three";
  add(node("d"));
  auto again = relocation({"b", "c", "d"});
  EXPECT_TRUE(again.remove("a"));
  EXPECT_TRUE(again.remove("b"));
  EXPECT_FALSE(again.remove("c")) << "d has not five CPUs";
}

TEST_F(Moving, PodsThatWaitTakeTheirPlaceFirst) {
  add(node("a"), {pod("p").cpu("2")});
  add(node("b"), {pod("q").cpu("2")});
  problem_.add(pod("waiting").cpu("1"));
  EXPECT_FALSE(relocation({"b"}).remove("a"));
}

TEST_F(Moving, TaintsAndSelectorsKeepPodsAway) {
  add(node("a"), {pod("p").cpu("1")});
  add(node("b"), {pod("q").cpu("1").selects("disk", "ssd")});
  add(node("tainted").taint("team", "blue", "NoSchedule").label("disk", "ssd"));
  auto moving = relocation({"tainted"});
  EXPECT_FALSE(moving.remove("a"));
  EXPECT_FALSE(moving.remove("b"));
  add(node("free").label("disk", "ssd"));
  auto again = relocation({"tainted", "free"});
  EXPECT_TRUE(again.remove("a"));
  EXPECT_TRUE(again.remove("b"));
}

TEST_F(Moving, KeepsPodsSpreadOverZones) {
  const auto web = [](std::string name) {
    return pod(std::move(name)).cpu("1").label("app", "web").with(spreads(spread_over(kZone, 1)));
  };
  const auto in = [](const char* name, const char* zone) { return node(name).label(kZone, zone); };
  add(in("a", "one"), {web("p")});
  add(in("b", "two"), {web("q")});
  add(in("c", "one"));
  add(in("d", "two"));
  auto moving = relocation({"d", "b", "c"});
  EXPECT_TRUE(moving.remove("a")) << "p goes to c";
  EXPECT_FALSE(moving.remove("c")) << "no other node is in its zone";
  EXPECT_TRUE(moving.remove("b")) << "q goes to d";
}

TEST_F(Moving, KeepsPodsApart) {
  const auto lone = [](std::string name) {
    return pod(std::move(name)).cpu("1").label("app", "web").with(apart(term(kHost)));
  };
  add(node("a"), {lone("p")});
  add(node("b"), {lone("q")});
  add(node("c"));
  auto moving = relocation({"a", "b", "c"});
  EXPECT_TRUE(moving.remove("a")) << "p goes to c";
  EXPECT_FALSE(moving.remove("b"));
}

// Of one node without rules about other pods, it is the planner's own first fit.
RC_GTEST_PROP(Relocation, OfOneNodeFindsWhatThePlannerFinds, ()) {
  Problem whole;
  Problem without;
  std::vector<std::string> names;
  const int count = *rc::gen::inRange(2, 7);
  for (int n = 0; n < count; ++n) {
    const std::string name = "n" + std::to_string(n);
    NodeBuilder on = node(name);
    const int pods_here = *rc::gen::inRange(0, 5);
    for (int p = 0; p < pods_here; ++p) {
      const int millicores = *rc::gen::inRange(1, 20) * 100;
      const PodPtr bound = pod(name + "-" + std::to_string(p))
                               .cpu(std::to_string(millicores) + "m")
                               .with([&](model::Pod& each) { each.spec.node_name = name; });
      on.runs(bound);
      whole.pods.push_back(bound);
      if (n == 0) {
        without.pods.push_back(bound);
      }
    }
    const NodeRecordPtr record = on;
    whole.nodes.push_back(record);
    if (n > 0) {
      without.nodes.push_back(record);
    }
    names.push_back(name);
  }
  whole.counted_nodes = whole.nodes;
  without.counted_nodes = whole.nodes;
  without.options.economise = false;
  PlanMemory memory;
  const bool gone = Relocation(whole, names, memory).remove("n0");
  RC_ASSERT(gone == scheduling::solve(without).refusals.empty());
}

}  // namespace
}  // namespace millwright::scheduling::testing
