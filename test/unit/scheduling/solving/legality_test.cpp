// Every plan for a random world is legal; and the judge is not blind: a plan that is tampered with
// is found out.
#include "checker/plan/checker.hpp"
#include "checker/plan/random_world.hpp"
#include "unit/scheduling/topology/topology_builders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace millwright::scheduling::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Legality, OfPlansForRandomWorlds) {
  for (std::uint32_t seed = 1; seed <= 500; ++seed) {
    const Problem problem = checker::random_world(seed);
    const Plan plan = solve(problem);
    ASSERT_THAT(checker::violations(problem, plan, {.seed = seed}), IsEmpty()) << "SEED=" << seed;
    ASSERT_THAT(checker::missed(problem, plan), IsEmpty()) << "SEED=" << seed;
  }
}

TEST(Legality, APodThatHadAPlaceIsMissed) {
  Plan plan;
  plan.refusals.push_back({"p", "no reason at all", ""});
  const auto anywhere = ProblemBuilder().add(pool("default"), three_sizes()).add(pod("p"));
  EXPECT_THAT(checker::missed(anywhere.problem(), plan),
              Contains(HasSubstr("p fits on a new node")));
  const auto on_node = ProblemBuilder().add(node("n")).add(pod("p"));
  EXPECT_THAT(checker::missed(on_node.problem(), plan), Contains("p fits on n"));
}

TEST(Legality, RandomWorldsAreTheSameAgain) {
  const Problem once = checker::random_world(7);
  const Problem again = checker::random_world(7);
  EXPECT_EQ(checker::describe(once, solve(once)), checker::describe(again, solve(again)));
}

TEST(Legality, OrderOfTheInputDoesNotMatterToTopologyEither) {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    const Problem problem = checker::random_world(seed);
    Problem reversed = problem;
    std::reverse(reversed.pods.begin(), reversed.pods.end());
    std::reverse(reversed.pools.begin(), reversed.pools.end());
    std::reverse(reversed.nodes.begin(), reversed.nodes.end());
    ASSERT_EQ(checker::describe(problem, solve(problem)),
              checker::describe(problem, solve(reversed)))
        << "SEED=" << seed;
  }
}

// A proxy beside the container: an init container that goes on running.
PodBuilder with_sidecar(const std::string& name, bool restart_always = true) {
  return pod(name).with([&](model::Pod& value) {
    value.spec.init_containers = {
        {.name = "proxy", .ports = {{80, 80, "", "TCP"}}, .restart_always = restart_always}};
  });
}

TEST(Legality, SidecarsHoldTheirHostPorts) {
  const Problem two =
      ProblemBuilder().add(node("n")).add(pods(2, "p", with_sidecar("p"))).problem();
  Plan both;
  both.placements = {{"p-1000", std::string("n"), 1}, {"p-1001", std::string("n"), 2}};
  EXPECT_THAT(checker::violations(two, both), Contains(HasSubstr("host port 80 is taken")));
  EXPECT_EQ(solve(two).placements.size(), 1U);
  // A pod like it, but for the sidecar's port, has room.
  const Problem different =
      ProblemBuilder().add(node("n")).add(with_sidecar("p")).add(pod("q")).problem();
  EXPECT_EQ(solve(different).placements.size(), 2U);
}

TEST(Legality, AnInitContainerThatEndsHoldsNoHostPort) {
  const Problem two =
      ProblemBuilder().add(node("n")).add(pods(2, "p", with_sidecar("p", false))).problem();
  const Plan plan = solve(two);
  EXPECT_EQ(plan.placements.size(), 2U);
  EXPECT_THAT(checker::violations(two, plan), IsEmpty());
}

struct Tampering {
  std::string name;
  std::function<void(Problem&, Plan&)> tamper;
  std::string finding;
};

void PrintTo(const Tampering& tampering, std::ostream* out) {
  *out << tampering.name;
}

class JudgeTest : public ::testing::TestWithParam<Tampering> {};

// Two zones with a node each; pods that spread, one that keeps to itself, one that follows it.
Problem small_world() {
  return ProblemBuilder()
      .add(pool("default").limit("cpu", "1000"), three_sizes())
      .add(node("a").label(model::kZoneLabel, "test-zone-1").allocatable("pods", "3"))
      .add(node("b").label(model::kZoneLabel, "test-zone-2").taint("own", "", "NoSchedule"))
      .add(pods(2, "web", web("w").with(spreads(spread_over(model::kZoneLabel, 1)))))
      .add(pod("loner").label("app", "db").with(apart(term(model::kHostnameLabel))))
      .add(pod("fan").with(beside(term(model::kHostnameLabel, {{"app", "db"}}))))
      .add(pods(2, "port", pod("x").host_port(80)))
      .problem();
}

Placement& placement_of(Plan& plan, std::string_view uid) {
  return *std::find_if(plan.placements.begin(), plan.placements.end(),
                       [&](const auto& item) { return item.pod_uid == uid; });
}

void move_to(Plan& plan, const std::string& uid, const std::string& node) {
  for (auto& claim : plan.claims) {
    std::erase(claim.pod_uids, uid);
  }
  placement_of(plan, uid).target = node;
}

TEST_P(JudgeTest, FindsOut) {
  Problem problem = small_world();
  Plan plan = solve(problem);
  ASSERT_THAT(plan.refusals, IsEmpty());
  ASSERT_THAT(checker::violations(problem, plan), IsEmpty());
  GetParam().tamper(problem, plan);
  EXPECT_THAT(checker::violations(problem, plan), Contains(HasSubstr(GetParam().finding)));
}

INSTANTIATE_TEST_SUITE_P(
    Plans, JudgeTest,
    ::testing::Values(
        Tampering{"a_forgotten_pod", [](Problem&, Plan& plan) { plan.placements.pop_back(); },
                  "is decided 0 times"},
        Tampering{"a_taint", [](Problem&, Plan& plan) { move_to(plan, "fan", "b"); },
                  "untolerated taint"},
        Tampering{"a_crowded_zone",
                  [](Problem& problem, Plan& plan) {
                    problem.pods.push_back(web("extra").selects(model::kZoneLabel, "test-zone-1"));
                    problem.pods.push_back(web("more").selects(model::kZoneLabel, "test-zone-1"));
                    plan.placements.push_back({"extra", std::string("a"), 0});
                    plan.placements.push_back({"more", std::string("a"), 0});
                  },
                  "skew over topology.kubernetes.io/zone"},
        Tampering{"broken_company",
                  [](Problem&, Plan& plan) {
                    const auto& at = placement_of(plan, "loner").target;
                    const auto* host = std::get_if<std::string>(&at);
                    if (host == nullptr) {
                      move_to(plan, "fan", "a");
                    } else {
                      placement_of(plan, "fan").step = 0;
                    }
                  },
                  "nobody to be beside"},
        Tampering{"unwanted_company",
                  [](Problem& problem, Plan& plan) {
                    problem.pods.push_back(pod("intruder").label("app", "web"));
                    Placement beside_loner = placement_of(plan, "loner");
                    beside_loner.pod_uid = "intruder";
                    beside_loner.step = 1000;
                    if (const auto* claim = std::get_if<std::size_t>(&beside_loner.target)) {
                      plan.claims[*claim].pod_uids.push_back("intruder");
                      plan.claims[*claim].requests["pods"] = quantity("100");
                    }
                    plan.placements.push_back(beside_loner);
                  },
                  "is kept out by loner"},
        Tampering{"a_taken_port",
                  [](Problem&, Plan& plan) {
                    move_to(plan, "port-1000", "a");
                    move_to(plan, "port-1001", "a");
                  },
                  "host port 80 is taken"},
        Tampering{"a_limit",
                  [](Problem& problem, Plan&) {
                    auto smaller = *problem.pools[0].pool;
                    smaller.limits = resources({{"cpu", "1"}});
                    problem.pools[0].pool = std::make_shared<const model::NodePool>(smaller);
                  },
                  "exceeds its limit of cpu"},
        Tampering{"a_wrong_price", [](Problem&, Plan& plan) { plan.claims[0].price *= 0.5; },
                  "has the price"},
        Tampering{"a_type_that_is_too_small",
                  [](Problem& problem, Plan& plan) {
                    auto larger = *problem.pods.front();
                    larger.spec.containers.front().requests = resources({{"cpu", "15"}});
                    for (auto& one : problem.pods) {
                      const bool bought = std::any_of(
                          plan.claims.begin(), plan.claims.end(), [&](const auto& claim) {
                            return claim.pod_uids.front() == one->meta.uid;
                          });
                      if (bought) {
                        larger.meta = one->meta;
                        one = std::make_shared<const model::Pod>(larger);
                      }
                    }
                  },
                  "insufficient cpu"}),
    [](const auto& which) { return which.param.name; });

}  // namespace
}  // namespace millwright::scheduling::testing
