// What decisions remember of nodes changes none of them.
#include "consolidation_cases.hpp"

namespace millwright::disruption {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string why(const Decisions& decisions, const std::string& claim) {
  for (const auto& blocked : decisions.blocked) {
    if (blocked.claim == claim) {
      return blocked.why.message;
    }
  }
  return {};
}

// Decides twice with one memory: the second time about `then`, with the same nodes.
Decisions decide_again(Input first, const std::function<void(Input&)>& then) {
  first.memory = make_memory();
  decide(first);
  then(first);
  return decide(first);
}

Cluster pod_beside_a_keeper(std::shared_ptr<model::Pod> moving) {
  Cluster cluster;
  cluster.add_node("n", {std::move(moving)});
  add_keeper(cluster, "keeper", 1000, {.type = "large"});
  return cluster;
}

TEST(Memory, ForgetsANodeThatHasChanged) {
  auto cluster = pod_beside_a_keeper(pod("p", 3500));
  const auto first = cluster.input();
  auto protected_pod = pod("p", 3500);
  protected_pod->meta.annotations[kKeep] = "true";
  const auto second = pod_beside_a_keeper(protected_pod).input();
  const auto decisions =
      decide_again(first, [&](Input& input) { input.snapshot = second.snapshot; });
  EXPECT_THAT(decisions.commands, IsEmpty());
  EXPECT_THAT(why(decisions, "n-claim"), HasSubstr("has the annotation"));
}

TEST(Memory, KnowsThatProtectionEnds) {
  auto moving = pod("p");
  moving->meta.annotations[kKeep] = "25h";
  const auto cluster = pod_beside_a_keeper(moving);
  EXPECT_THAT(decide_again(cluster.input(), [](Input&) {}).commands, IsEmpty());
  const auto later =
      decide_again(cluster.input(), [](Input& input) { input.now += std::chrono::hours(2); });
  EXPECT_THAT(later.commands, SizeIs(1));
  EXPECT_THAT(later.protected_pods, SizeIs(1));
}

TEST(Memory, KnowsThatAPodGrowsOld) {
  auto moving = pod("p");
  moving->status.start_time = kNow;
  const auto cluster = pod_beside_a_keeper(moving);
  const auto price_after = [&](base::Duration time) {
    const auto decisions = decide_again(cluster.input(), [&](Input& input) { input.now += time; });
    return decisions.commands.empty() ? 0 : decisions.commands.front().eviction_price;
  };
  EXPECT_GT(price_after(std::chrono::minutes(9)), 0);
  EXPECT_DOUBLE_EQ(price_after(std::chrono::minutes(9)), 2 * price_after(std::chrono::minutes(10)));
}

TEST(Memory, SeesABudgetThatIsNew) {
  auto cluster = pod_beside_a_keeper(pod("p"));
  const auto before = cluster.input();
  cluster.add_budget("p", "p", 0);
  const auto after = cluster.input();
  const auto decisions = decide_again(before, [&](Input& input) {
    auto changed = std::make_shared<scheduling::Snapshot>(*input.snapshot);
    changed->disruption_budgets = after.snapshot->disruption_budgets;
    input.snapshot = std::move(changed);
  });
  EXPECT_THAT(decisions.commands, IsEmpty());
  EXPECT_THAT(why(decisions, "n-claim"), HasSubstr("PodDisruptionBudget"));
}

}  // namespace
}  // namespace millwright::disruption
