// Static pools (feature gate StaticCapacity) at work in a whole cluster in virtual time.
#include "sandbox/semantics/semantics_fixture.hpp"

namespace millwright::test {
namespace {

TEST_F(Semantics, AStaticPoolKeepsItsNumberWhateverPodsAsk) {
  create(pool("default", "  replicas: 3\n"));
  ASSERT_TRUE(soon([&] { return nodes().size() == 3; }));
  cluster_.loop.run_for(minutes(30));
  EXPECT_EQ(nodes().size(), 3U) << "empty nodes of a static pool stay";
  EXPECT_EQ(claims(), 3U);
  create(deployment("web", 1, "cpu: 500"));
  cluster_.loop.run_for(minutes(5));
  EXPECT_EQ(claims(), 3U) << "no pod makes a static pool grow";
}

TEST_F(Semantics, AStaticPoolIsScaledByItsReplicas) {
  create(pool("default", "  replicas: 1\n"));
  ASSERT_TRUE(soon([&] { return nodes().size() == 1; }));
  const auto scale = [&](int replicas) {
    edit(model::kNodePoolResource, "default",
         [&](json::value& object) { object.at("spec").as_object()["replicas"] = replicas; });
  };
  scale(4);
  ASSERT_TRUE(soon([&] { return nodes().size() == 4; }));
  create(deployment("web", 1, "cpu: 100m"));
  ASSERT_TRUE(soon([&] { return running("web") == 1; }));
  scale(1);
  ASSERT_TRUE(soon([&] { return snapshot()->nodes.size() == 1; }));
  EXPECT_EQ(nodes().size(), 1U);
  EXPECT_EQ(running("web"), 1U) << "the node with a pod is the last to go";
  EXPECT_EQ(claims(), 4U) << "no node was made or removed more than once";
}

TEST_F(Semantics, AStaticPoolStaysWithinItsLimit) {
  create(pool("default", "  replicas: 5\n  limits: {nodes: 2}\n"));
  ASSERT_TRUE(soon([&] { return nodes().size() == 2; }));
  cluster_.loop.run_for(minutes(10));
  EXPECT_EQ(claims(), 2U);
}

TEST_F(Semantics, AStaticNodeThatIsLostIsMadeAnew) {
  create(pool("default", "  replicas: 2\n"));
  ASSERT_TRUE(soon([&] { return nodes().size() == 2; }));
  const auto lost = nodes().front()->claim;
  cluster_.cluster->cloud(cloud::Profile::Kwok)->lose(lost->provider_id);
  EXPECT_TRUE(soon([&] { return claims() == 3 && nodes().size() == 2; }, minutes(30)));
}

TEST_F(Semantics, DriftedStaticNodesAreReplacedOneForOne) {
  create(pool("default", "  replicas: 3\n  disruption: {budgets: [{nodes: \"1\"}]}\n"));
  ASSERT_TRUE(soon([&] { return nodes().size() == 3; }));
  edit(model::kNodePoolResource, "default", [](json::value& object) {
    object.at_pointer("/spec/template").as_object()["metadata"] = {
        {"labels", {{"generation", "two"}}}};
  });
  std::size_t fewest = 3;
  const auto replaced = [&] {
    const auto now = nodes();
    fewest = std::min(fewest, now.size());
    return now.size() == 3 && std::all_of(now.begin(), now.end(), [](const auto& record) {
             return record->claim->meta.label("generation") == "two";
           });
  };
  EXPECT_TRUE(soon(replaced, std::chrono::hours(2)));
  EXPECT_GE(fewest, 2U);
  cluster_.loop.run_for(minutes(10));
  EXPECT_EQ(claims(), 6U) << "each was replaced once";
}

}  // namespace
}  // namespace millwright::test
