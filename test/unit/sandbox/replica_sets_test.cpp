// Which pods a ReplicaSet makes and deletes, and how fast, in virtual time.
#include "unit/sandbox/world_fixture.hpp"

#include <boost/json.hpp>

#include <vector>

namespace millwright::sandbox {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class ReplicaSets : public WorldFixture {};

TEST_F(ReplicaSets, ReplicaSetsTakeTurnsWhenPodsAreCreatedAtARate) {
  options.replica_pods_per_second = 10;
  launch("n1", "64");
  make_deployment("web", 20);
  make_deployment("api", 20);
  const auto made_for = [this](const std::string& name) {
    std::size_t count = 0;
    for (const auto& [pod, state] : pods()) {
      count += pod.starts_with(name) ? 1 : 0;
    }
    return count;
  };
  loop.run_for(seconds(2));
  EXPECT_NEAR(static_cast<double>(made_for("web")), 10, 1);
  EXPECT_NEAR(static_cast<double>(made_for("api")), 10, 1);
  loop.run_for(seconds(10));
  EXPECT_EQ(made_for("web"), 20U);
  EXPECT_EQ(made_for("api"), 20U);
}

TEST_F(ReplicaSets, AnEvictedPodComesBackAtTheRate) {
  options.replica_pods_per_second = 2;
  launch("n1", "64");
  make_deployment("web", 6);
  loop.run_for(seconds(10));
  const auto before = pods();
  for (const auto& [name, state] : before) {
    ASSERT_TRUE(api().remove(model::kPodResource, {"default", name}).has_value());
  }
  loop.run_for(seconds(1));
  EXPECT_EQ(count("Ending"), 6U);
  EXPECT_EQ(pods().size(), 8U);
  loop.run_for(seconds(20));
  EXPECT_EQ(pods().size(), 6U);
  for (const auto& [name, state] : pods()) {
    EXPECT_FALSE(before.contains(name)) << name;
  }
}

TEST_F(ReplicaSets, AfterAPauseABurstOfPodsIsCreatedAtOnce) {
  options.replica_pods_per_second = 2;
  options.replica_burst = 10;
  launch("n1", "64");
  make_deployment("web", 30);
  loop.run_for(seconds(1));
  EXPECT_NEAR(static_cast<double>(pods().size()), 11, 1);
  loop.run_for(seconds(5));
  EXPECT_NEAR(static_cast<double>(pods().size()), 21, 1);
}

TEST_F(ReplicaSets, AScaleDownTakesPendingPodsFirst) {
  launch("n1", "2");
  make_deployment("web", 4);
  loop.run_for(seconds(30));
  ASSERT_EQ(count("Running"), 2U);
  ASSERT_EQ(count("Pending"), 2U);
  scale("web", 2);
  loop.run_for(seconds(10));
  EXPECT_EQ(count("Running"), 2U);
  EXPECT_EQ(count("Pending"), 0U);
}

TEST_F(ReplicaSets, AScaleDownTakesFromTheCrowdedNode) {
  launch("n1", "3");
  make_deployment("web", 3);
  loop.run_for(seconds(30));
  launch("n2", "3");
  loop.run_for(seconds(30));
  scale("web", 4);
  loop.run_for(seconds(10));
  scale("web", 2);
  loop.run_for(seconds(10));
  EXPECT_EQ(count("Running@n1"), 1U);
  EXPECT_EQ(count("Running@n2"), 1U);
}

// kube-controller-manager chooses all of them before it deletes the first.
TEST_F(ReplicaSets, AScaleDownAtARateTakesAllFromTheNodeThatWasCrowded) {
  options.replica_pods_per_second = 5;
  launch("n1", "4");
  make_deployment("web", 4);
  loop.run_for(seconds(30));
  launch("n2", "4");
  loop.run_for(seconds(30));
  scale("web", 6);
  loop.run_for(seconds(10));
  ASSERT_EQ(count("Running@n2"), 2U);
  scale("web", 3);
  loop.run_for(seconds(20));
  EXPECT_EQ(count("Running@n1"), 1U);
  EXPECT_EQ(count("Running@n2"), 2U);
}

// Pods of the Deployment's other ReplicaSets make a node crowded, too.
TEST_F(ReplicaSets, ARollingUpdateTakesOldPodsFromBesideTheNewOnes) {
  const auto cordon = [this](const std::string& node, bool closed) {
    set_node(node, [&](boost::json::value& json) {
      json.at("spec").as_object()["unschedulable"] = closed;
    });
  };
  launch("n1", "1");
  launch("n2", "4");
  loop.run_for(seconds(30));
  cordon("n1", true);
  make_deployment("web", 1);
  loop.run_for(seconds(30));
  cordon("n1", false);
  cordon("n2", true);
  scale("web", 2);
  loop.run_for(seconds(10));
  cordon("n2", false);
  ASSERT_EQ(count("Running@n1"), 1U) << "the younger one";
  ASSERT_EQ(count("Running@n2"), 1U);
  std::vector<std::string> left;
  const auto watch = api().watch(model::kPodResource, [&left](const Event& event) {
    if (!text_at(*event.object, "metadata.deletionTimestamp").empty()) {
      left.push_back(text_at(*event.object, "spec.nodeName"));
    }
  });
  ASSERT_TRUE(
      api().update(model::kDeploymentResource, {"default", "web"}, [](boost::json::value& json) {
        json.at("spec").at("template").at("metadata").at("labels").as_object()["edition"] = "2";
      }));
  loop.run_for(minutes(1));
  ASSERT_FALSE(left.empty());
  EXPECT_EQ(left.front(), "n2");
}

// So that a rollout does not take the youngest half of each node's pods.
TEST_F(ReplicaSets, AScaleDownTakesPodsOfLikeAgeByChance) {
  launch("n1", "64");
  make_deployment("web", 20);
  loop.run_for(seconds(30));
  const auto first = pods();
  loop.run_for(seconds(2));
  scale("web", 40);
  loop.run_for(minutes(60));
  scale("web", 20);
  loop.run_for(minutes(1));
  std::size_t of_the_first = 0;
  for (const auto& [name, state] : pods()) {
    of_the_first += first.contains(name) ? 1 : 0;
  }
  EXPECT_GT(of_the_first, 2U);
  EXPECT_LT(of_the_first, 18U);
}

}  // namespace
}  // namespace millwright::sandbox
