// Sets of nodes that the program over the whole cluster chooses.
#include "consolidation_cases.hpp"

namespace millwright::disruption {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

// What fits the pods, and what is half as large again and six times as dear.
void sell_dear_and_cheap(Cluster& cluster) {
  cluster.set_types("pool", {instance_type("cheap", 8, 1), instance_type("dear", 12, 6)});
}

void add_dear_nodes(Cluster& cluster, int count) {
  for (int i = 0; i < count; ++i) {
    const auto number = std::to_string(100 + i);
    cluster.add_node("d" + number, {pod("p" + number, 4000)}, {.type = "dear"});
  }
}

// Eight of them could hold all pods, but cost four times as much as twelve cheap ones. Karpenter
// would go without the sixteen.
TEST(Superfluous, ManyNodesBecomeHalfAsManyCheaperOnes) {
  Cluster cluster;
  sell_dear_and_cheap(cluster);
  add_dear_nodes(cluster, 24);
  const auto command = only_command(cluster);
  EXPECT_THAT(command.claims, SizeIs(24));
  EXPECT_THAT(command.replacements, SizeIs(12));
  EXPECT_DOUBLE_EQ(command.savings, 24 * 6 - 12);
  EXPECT_TRUE(still_valid(command, cluster.input()));
}

// The nodes that cost most for what they disturb are not those that should go: what is left must
// have the memory that the pods need.
TEST(Superfluous, TheNodesThatStayHaveWhatIsScarce) {
  Cluster cluster;
  auto lean = instance_type("lean", 8, 2);
  lean.capacity["memory"] = model::Quantity::from_units(std::int64_t{4} << 30);
  auto rich = instance_type("rich", 8, 3);
  rich.capacity["memory"] = model::Quantity::from_units(std::int64_t{64} << 30);
  cluster.set_types("pool", {lean, rich});
  for (const auto& [name, type] :
       {std::pair{"a", "rich"}, {"b", "lean"}, {"c", "lean"}, {"d", "lean"}, {"e", "lean"}}) {
    auto fat = pod(std::string("p-") + name, 500);
    fat->spec.containers[0].requests["memory"] = model::Quantity::from_units(std::int64_t{3} << 30);
    cluster.add_node(name, {fat}, {.type = type});
  }
  const auto command = only_command(cluster);
  EXPECT_THAT(command.claims, testing::ElementsAre("b-claim", "c-claim", "d-claim", "e-claim"));
  EXPECT_THAT(command.replacements, IsEmpty());
}

TEST(Superfluous, NeverMoreThanBudgetsLetGo) {
  Cluster cluster;
  sell_dear_and_cheap(cluster);
  add_dear_nodes(cluster, 24);
  cluster.pool().budgets = {{.nodes = "5"}};
  EXPECT_THAT(only_command(cluster).claims, SizeIs(5));
}

TEST(Superfluous, NothingWhereEveryNodeIsNeeded) {
  Cluster cluster;
  cluster.set_types("pool", {instance_type("cheap", 8, 1)});
  for (int i = 0; i < 20; ++i) {
    const auto number = std::to_string(100 + i);
    cluster.add_node("n" + number, {pod("p" + number, 8000)}, {.type = "cheap"});
  }
  EXPECT_THAT(cluster.decide().commands, IsEmpty());
}

}  // namespace
}  // namespace millwright::disruption
