#include "disruption/simulation/carried_out.hpp"

#include "../consolidation_cases.hpp"
#include "disruption/candidates/selection.hpp"
#include "disruption/methods/consolidation/consolidation.hpp"

namespace millwright::disruption {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

std::vector<std::string> nodes_of(const Input& input) {
  std::vector<std::string> names;
  for (const auto& record : input.snapshot->nodes) {
    names.push_back(record->name());
  }
  return names;
}

std::vector<std::string> pods_on(const scheduling::NodeRecord& record) {
  std::vector<std::string> names;
  for (const auto& pod : record.pods) {
    EXPECT_EQ(pod->spec.node_name, record.name());
    names.push_back(pod->meta.name);
  }
  return names;
}

Input after_consolidation(const Input& input, const std::string& claim) {
  Survey survey(input, {});
  const auto* candidate = survey.find(claim);
  const auto result = consolidate(survey, Candidates(&candidate, 1));
  EXPECT_TRUE(result.command) << result.problem->message;
  return result.command ? carried_out(survey, *result.command) : input;
}

TEST(CarriedOut, PodsAreWhereTheyWereToGo) {
  Cluster cluster;
  cluster.add_node("a", {pod("p")});
  add_keeper(cluster, "b", 1000);
  const auto input = cluster.input();
  const auto after = after_consolidation(input, "a-claim");
  ASSERT_THAT(nodes_of(after), ElementsAre("b"));
  const auto& node = *after.snapshot->nodes.front();
  EXPECT_THAT(pods_on(node), ElementsAre("b-resident", "p"));
  EXPECT_EQ(model::get(node.pod_requests, "cpu"), model::Quantity::from_units(2));
  EXPECT_EQ(after.now, input.now);
  EXPECT_THAT(nodes_of(input), ElementsAre("a", "b")) << "the snapshot that was given";
  EXPECT_THAT(pods_on(*input.snapshot->nodes.back()), ElementsAre("b-resident"));
}

TEST(CarriedOut, ANewNodeIsOneThatMayGoAtOnce) {
  Cluster cluster;
  cluster.add_node("a", {pod("p")}, {.type = "large"});
  cluster.options.settle_time = std::chrono::minutes(1);
  annotate(cluster, model::kMinNodeAgeAnnotation, "1h");
  cluster.node("a").claim->meta.creation_timestamp = kLongAgo;
  const auto after = after_consolidation(cluster.input(), "a-claim");
  ASSERT_THAT(after.snapshot->nodes, SizeIs(1));
  const auto& node = *after.snapshot->nodes.front();
  EXPECT_THAT(pods_on(node), ElementsAre("p"));
  EXPECT_EQ(model::get(node.allocatable(), "cpu"), model::Quantity::from_units(2));
  const Survey survey(after, {});
  ASSERT_THAT(survey.candidates(), SizeIs(1));
  const auto& candidate = survey.candidates().front();
  EXPECT_EQ(candidate.instance_type, "small");
  EXPECT_DOUBLE_EQ(candidate.price, 1);
  EXPECT_FALSE(ineligible(candidate));
}

TEST(CarriedOut, NewNodesComeAfterAllOthersInTheOrderInWhichTheyAreBought) {
  Cluster cluster;
  auto only_in_a = pod("p");
  only_in_a->spec.node_selector[std::string(model::kZoneLabel)] = "a";
  cluster.add_node("a", {only_in_a}, {.type = "large"});
  cluster.add_node("z", {pod("q", 2500)}, {.type = "large", .zone = "b"});
  const auto first = after_consolidation(cluster.input(), "a-claim");
  ASSERT_THAT(first.snapshot->nodes, SizeIs(2));
  EXPECT_EQ(first.snapshot->nodes.front()->name(), "z");
  const auto bought = first.snapshot->nodes.back()->name();
  const auto second = after_consolidation(first, "z-claim");
  ASSERT_THAT(second.snapshot->nodes, SizeIs(2));
  EXPECT_EQ(second.snapshot->nodes.front()->name(), bought);
  EXPECT_GT(second.snapshot->nodes.back()->name(), bought);
}

TEST(CarriedOut, RoomOfBuffersMoves) {
  Cluster cluster;
  cluster.add_node("a", {pod("p")});
  cluster.add_room("room", "a");
  add_keeper(cluster, "b", 1000);
  const auto after = after_consolidation(cluster.input(), "a-claim");
  ASSERT_THAT(after.virtual_pods, SizeIs(1));
  EXPECT_EQ(after.virtual_pods.front().target, "b");
}

}  // namespace
}  // namespace millwright::disruption
