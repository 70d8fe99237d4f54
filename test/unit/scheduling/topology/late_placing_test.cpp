// Pods that only domains without nodes hold back, and the work that is spent on them.
#include "scheduling/packing/allowance.hpp"
#include "scheduling/packing/compiled_problem.hpp"
#include "scheduling/packing/packing.hpp"
#include "scheduling/packing/pod_orders.hpp"
#include "topology_builders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace millwright::scheduling::testing {
namespace {

constexpr int kPools = 20;

// No type in zone 1 holds the pods, which are spread over the zones.
ProblemBuilder held_back_by_zone_1(std::uint64_t allowance) {
  ProblemBuilder problem;
  const auto sold = types({type("here").cpu("1").sold({{"test-zone-1", "on-demand"}}),
                           type("there").cpu("8").sold({{"test-zone-2", "on-demand"}})});
  for (int i = 0; i < kPools; ++i) {
    problem.add(pool("pool" + std::to_string(i)), sold);
  }
  for (int i = 0; i < 4; ++i) {
    const std::string name = "w" + std::to_string(i);
    problem.add(pods(
        3, name,
        pod(name).cpu(std::to_string(2000 + i) + "m").label("app", name).with([&](model::Pod& p) {
          p.spec.topology_spread.push_back(
              {.max_skew = 1,
               .topology_key = std::string(kZone),
               .when_unsatisfiable = "DoNotSchedule",
               .label_selector = model::LabelSelector{.match_labels = {{"app", name}}}});
        })));
  }
  return problem.with([&](Problem& p) {
    p.options.allowance = allowance;
    p.options.economise = false;
  });
}

TEST(LatePlacing, ToAskANodePoolWhetherItCouldHoldAPodIsWork) {
  const CompiledProblem compiled(held_back_by_zone_1(0).problem());
  const auto order = karpenters_order(compiled.pods);
  const PodClass& pod_class = compiled.pods.classes.front();
  const Constraint& constraint = compiled.pods.constraints[pod_class.constraint];
  Applicant in_zone_1{pod_class, constraint, constraint.ladder.front()};
  for (const bool enough : {false, true}) {
    Allowance allowance(kPools * 1000 + (enough ? 1 : 0));
    Packing packing(compiled, {.order = order}, allowance);
    in_zone_1.narrowed.chosen = &packing.drafts().domains().narrowing(KeyId(0), 0);
    EXPECT_FALSE(packing.could_be_bought(in_zone_1));
    EXPECT_EQ(packing.has_spent_allowance(), !enough);
  }
}

TEST(LatePlacing, PodsWhoseTurnDoesNotComeAreLeftForTheNextPlan) {
  std::set<std::size_t> plans_needed;
  for (std::uint64_t allowance = 0; allowance <= 1'000'000; allowance += 10'000) {
    SCOPED_TRACE(allowance);
    Problem problem = held_back_by_zone_1(allowance).problem();
    std::size_t plans = 0;
    while (!problem.pods.empty()) {
      const Plan plan = solve(problem);
      ++plans;
      std::set<std::string> postponed;
      for (const Refusal& refused : plan.refusals) {
        EXPECT_TRUE(refused.postponed || plan.placements.empty()) << refused.reason;
        postponed.insert(refused.pod_uid);
      }
      ASSERT_FALSE(plan.placements.empty());
      std::erase_if(problem.pods,
                    [&](const auto& pod) { return !postponed.contains(pod->meta.uid); });
    }
    plans_needed.insert(plans);
  }
  EXPECT_TRUE(plans_needed.contains(1));
  EXPECT_GT(plans_needed.size(), 3U);
}

}  // namespace
}  // namespace millwright::scheduling::testing
