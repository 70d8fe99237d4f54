// Which pods go to existing nodes.
#include "scheduling/search/filling/node_filling.hpp"

#include "checker/plan/random_world.hpp"
#include "search_world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace millwright::scheduling::testing {
namespace {

using ::testing::IsEmpty;

// "pod -> node", sorted.
std::vector<std::string> filled(SearchWorld& world, NodeValues by = NodeValues::AsPaid) {
  const CompiledProblem& compiled = world.compiled();
  std::vector<std::string> result;
  for (const auto& [pod, node] : dearest_on_nodes(compiled, world.packing(), by)) {
    result.push_back(compiled.pods.pods[pod].pod->meta.name + " -> " +
                     compiled.nodes.nodes()[node].record->node->meta.name);
  }
  std::sort(result.begin(), result.end());
  return result;
}

// CPU is dear and memory is cheap, or the other way round: the node has what the machines lack.
ProblemBuilder lopsided(PodBuilder wide) {
  ProblemBuilder problem;
  problem.add(pool("default"), types_of({{8, 32, 20, 1}}));
  problem.add(
      node("n").allocatable("cpu", "1").allocatable("memory", "40Gi").allocatable("pods", "10"));
  problem.add(pods(4, "narrow", pod("narrow").cpu("1").memory("1Gi")));
  problem.add(pods(8, "wide", std::move(wide).cpu("250m").memory("10Gi")));
  return problem;
}

constexpr NodeValues kBoth[] = {NodeValues::AsPaid, NodeValues::ByProgram};

TEST(NodeFilling, MemoryGoesToThoseWhoWantMemory) {
  for (const NodeValues by : kBoth) {
    SearchWorld world(lopsided(pod("wide")));
    const auto placed = filled(world, by);
    ASSERT_THAT(placed, ::testing::SizeIs(4));
    EXPECT_THAT(placed, ::testing::Each(::testing::StartsWith("wide")));
  }
}

struct FillCase {
  const char* name;
  PodBuilder wide;
  bool moves;
};

TEST(NodeFilling, LeavesPodsThatTheirOrderMattersTo) {
  const std::vector<FillCase> cases = {
      {"plain", pod("wide"), true},
      {"the node's labels", pod("wide").selects(model::kZoneLabel, "test-zone-1"), true},
      {"other labels", pod("wide").selects(model::kZoneLabel, "test-zone-2"), false},
      {"a preference",
       pod("wide").prefers(1, {need(model::kZoneLabel, Operator::In, {"test-zone-2"})}), false},
      {"kept apart", pod("wide").label("app", "wide").with([](model::Pod& p) {
         p.spec.affinity.required_pod_anti_affinity.push_back(
             {.label_selector = model::LabelSelector{.match_labels = {{"app", "wide"}}},
              .topology_key = std::string(model::kHostnameLabel)});
       }),
       false},
  };
  for (const FillCase& c : cases) {
    SCOPED_TRACE(c.name);
    SearchWorld world(lopsided(c.wide));
    const auto placed = filled(world);
    const bool moves = std::any_of(placed.begin(), placed.end(), [](const std::string& text) {
      return text.starts_with("wide");
    });
    EXPECT_EQ(moves, c.moves);
  }
}

TEST(NodeFilling, ThereIsNoUseInItWithoutClaimsOrWithoutNodes) {
  SearchWorld no_nodes(world_of({{4, 4, 10, 1}}, {{1, 1, 3}, {2, 2, 3}}));
  EXPECT_THAT(filled(no_nodes), IsEmpty());
  ProblemBuilder roomy = world_of({{4, 4, 10, 1}}, {{1, 1, 1}, {2, 2, 1}});
  roomy.add(node("n").allocatable("cpu", "8").allocatable("memory", "8Gi"));
  SearchWorld no_claims(roomy);
  EXPECT_THAT(filled(no_claims), IsEmpty());
}

TEST(NodeFilling, PodsThatAreAllAlikeHaveNoOrder) {
  ProblemBuilder problem = world_of({{4, 4, 10, 1}}, {{1, 1, 30}});
  problem.add(node("n"));
  SearchWorld world(problem);
  EXPECT_THAT(filled(world), IsEmpty());
}

// Empty when all is well: every pod once, where it may go, beside those that stay on the node.
std::string fault_in(SearchWorld& world, NodeValues by) {
  const CompiledProblem& compiled = world.compiled();
  const auto placed = dearest_on_nodes(compiled, world.packing(), by);
  std::set<PodId> promised;
  for (const auto& [pod, node] : compiled.nodes.promises()) {
    promised.insert(pod);
  }
  const auto constraint_of = [&](PodId pod) -> const Constraint& {
    return compiled.pods.constraint_of(pod);
  };
  const auto requests_of = [&](PodId pod) -> const Amounts& {
    return compiled.pods.class_of(pod).requests;
  };
  std::map<NodeId, Amounts> room;
  for (NodeId node; node < compiled.nodes.nodes().end_id(); ++node) {
    room[node] = compiled.nodes.nodes()[node].room;
  }
  const auto& places = world.packing().places();
  for (PodId pod; pod < places.end_id(); ++pod) {
    const bool stays = promised.contains(pod) || constraint_of(pod).ladder.size() != 1 ||
                       constraint_of(pod).has_topology();
    if (stays && places[pod].kind == PodPlace::Kind::Node) {
      subtract_from(room[places[pod].node()], requests_of(pod));
    }
  }
  std::set<PodId> seen;
  for (const auto& [pod, node] : placed) {
    const std::string name = compiled.pods.pods[pod].pod->meta.name;
    if (!seen.insert(pod).second) {
      return name + " is placed twice";
    }
    if (promised.contains(pod) || places[pod].kind == PodPlace::Kind::None) {
      return name + " is not to be placed";
    }
    if (!compiled.nodes.nodes()[node].admits(constraint_of(pod),
                                             constraint_of(pod).ladder.front())) {
      return name + " may not go there";
    }
    if (!fits(requests_of(pod), room[node])) {
      return name + " is too large for what is left";
    }
    subtract_from(room[node], requests_of(pod));
  }
  return {};
}

RC_GTEST_PROP(NodeFillingProperty, NodesAreNeverFilledBeyondTheirRoom, ()) {
  ProblemBuilder problem;
  problem.add(pool("default"), types_of({{8, 8, 20, 1}, {4, 12, 20, 0.8}}));
  const int count = *rc::gen::inRange(1, 6);
  for (int i = 0; i < count; ++i) {
    problem.add(node("n" + std::to_string(i))
                    .label(model::kZoneLabel, *rc::gen::element<std::string>("a", "b"))
                    .allocatable("cpu", std::to_string(*rc::gen::inRange(0, 9)))
                    .allocatable("memory", std::to_string(*rc::gen::inRange(0, 20)) + "Gi")
                    .allocatable("pods", std::to_string(*rc::gen::inRange(0, 9))));
  }
  const int lots = *rc::gen::inRange(1, 8);
  for (int i = 0; i < lots; ++i) {
    const std::string name = "lot" + std::to_string(i);
    auto like = pod_of(name, {*rc::gen::inRange(0, 5), *rc::gen::inRange(0, 8)});
    if (*rc::gen::inRange(0, 3) == 0) {
      like.selects(model::kZoneLabel, *rc::gen::element<std::string>("a", "b"));
    }
    problem.add(pods(*rc::gen::inRange(1, 8), name, like));
  }
  SearchWorld world(problem);
  for (const NodeValues by : kBoth) {
    RC_ASSERT(fault_in(world, by) == "");
  }
}

TEST(NodeFilling, IsSoundOnRandomProblems) {
  std::map<NodeValues, std::size_t> placed;
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    ProblemBuilder problem;
    problem.with([&](Problem& p) { p = checker::random_world(seed); });
    SearchWorld world(problem);
    for (const NodeValues by : kBoth) {
      EXPECT_EQ(fault_in(world, by), "") << "seed " << seed;
      placed[by] += filled(world, by).size();
    }
  }
  EXPECT_GT(placed[NodeValues::AsPaid], 20U);
  EXPECT_GT(placed[NodeValues::ByProgram], 20U);
}

}  // namespace
}  // namespace millwright::scheduling::testing
