// Whether a consolidation that was decided some time ago would be decided again.
#include "consolidation_cases.hpp"

namespace millwright::disruption {
namespace {

using std::chrono::seconds;

TEST(Consolidation, StaysValidWhileTheSameCommandWouldBeMadeAgain) {
  Cluster cluster;
  cluster.add_node("a", {pod("p"), pod("q", 2000)}, {.type = "large"});
  const auto command = only_command(cluster);
  cluster.node("a").record->fenced = true;
  EXPECT_TRUE(still_valid(command, cluster.input()));

  cluster.node("a").record->nominated_until = kNow + seconds(5);
  EXPECT_FALSE(still_valid(command, cluster.input())) << "nominated";
  cluster.node("a").record->nominated_until.reset();

  cluster.add_budget("pdb", "p", 0);
  EXPECT_FALSE(still_valid(command, cluster.input())) << "a blocking budget";
}

TEST(Consolidation, IsNoLongerValidWhenPodsCameOrTypesWent) {
  Cluster cluster;
  cluster.add_node("a", {pod("p"), pod("q", 2000)}, {.type = "large"});
  const auto command = only_command(cluster);
  cluster.node("a").record->pods.push_back(pod("r", 2000));
  EXPECT_FALSE(still_valid(command, cluster.input())) << "medium is too small now";
  cluster.node("a").record->pods.pop_back();
  EXPECT_TRUE(still_valid(command, cluster.input()));
  cluster.set_types("pool", {instance_type("small", 2, 1), instance_type("large", 8, 4)});
  EXPECT_FALSE(still_valid(command, cluster.input())) << "medium is not sold any more";
}

TEST(Consolidation, IsNoLongerValidWhenTheRoomElsewhereIsTaken) {
  Cluster cluster;
  cluster.add_node("a", {pod("p")}, {.type = "small"});
  auto& other = add_keeper(cluster, "b", 2500);
  const auto command = only_command(cluster);
  EXPECT_TRUE(still_valid(command, cluster.input()));
  other.record->pods.push_back(pod("new"));
  EXPECT_FALSE(still_valid(command, cluster.input()));
}

}  // namespace
}  // namespace millwright::disruption
