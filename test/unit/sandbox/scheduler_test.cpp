// The scheduler stand-in: filters with kube-scheduler's words, preemption.
#include "unit/sandbox/world_fixture.hpp"

#include <boost/json.hpp>

namespace millwright::sandbox {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;

using SchedulerStandIn = WorldFixture;

TEST_F(SchedulerStandIn, SaysThatThereAreNoNodes) {
  apply(one_pod("web"));
  loop.run_for(seconds(1));
  EXPECT_EQ(why_pending("web"), "no nodes available to schedule pods");
}

TEST_F(SchedulerStandIn, NamesEveryReasonWithItsCount) {
  launch("n1", "1");
  launch("n2", "1");
  launch("n3", "8");
  loop.run_for(seconds(20));
  set_node("n3",
           [](boost::json::value& node) { node.at("spec").as_object()["unschedulable"] = true; });
  loop.run_for(seconds(1));
  apply(one_pod("web", "2"));
  loop.run_for(seconds(1));
  EXPECT_EQ(why_pending("web"),
            "0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu.");
}

TEST_F(SchedulerStandIn, WaitsForTheTaintToGo) {
  register_nodes = false;
  launch("n1");
  apply(one_pod("web"));
  loop.run_for(seconds(20));
  EXPECT_THAT(why_pending("web"),
              HasSubstr("1 node(s) had untolerated taint {karpenter.sh/unregistered: }"));
  register_node("n1");
  loop.run_for(milliseconds(100));
  EXPECT_EQ(node_of("web"), "n1");
}

TEST_F(SchedulerStandIn, FollowsNodeSelectorsAndAffinity) {
  launch("n1", "4", {{"topology.kubernetes.io/zone", "a"}});
  launch("n2", "4", {{"topology.kubernetes.io/zone", "b"}});
  loop.run_for(seconds(20));
  apply(one_pod("selected", "1", R"("nodeSelector":{"topology.kubernetes.io/zone":"b"})"));
  apply(one_pod("preferring", "1", R"("affinity":{"nodeAffinity":{
      "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":100,"preference":{
      "matchExpressions":[{"key":"topology.kubernetes.io/zone","operator":"In",
      "values":["b"]}]}}]}})"));
  apply(one_pod("lost", "1", R"("nodeSelector":{"topology.kubernetes.io/zone":"c"})"));
  loop.run_for(seconds(1));
  EXPECT_EQ(node_of("selected"), "n2");
  EXPECT_EQ(node_of("preferring"), "n2");
  EXPECT_EQ(why_pending("lost"),
            "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector.");
}

TEST_F(SchedulerStandIn, SpreadsOverZones) {
  launch("n1", "8", {{"topology.kubernetes.io/zone", "a"}});
  launch("n2", "8", {{"topology.kubernetes.io/zone", "b"}});
  loop.run_for(seconds(20));
  make_deployment("web", 6, "1", R"("topologySpreadConstraints":[{"maxSkew":1,
      "topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"DoNotSchedule",
      "labelSelector":{"matchLabels":{"app":"web"}}}])");
  loop.run_for(seconds(20));
  EXPECT_EQ(count("Running@n1"), 3U);
  EXPECT_EQ(count("Running@n2"), 3U);
}

TEST_F(SchedulerStandIn, KeepsRivalsApartAndCompanionsTogether) {
  launch("n1", "8", {{"topology.kubernetes.io/zone", "a"}});
  launch("n2", "8", {{"topology.kubernetes.io/zone", "b"}});
  loop.run_for(seconds(20));
  make_deployment("alone", 3, "1", R"("affinity":{"podAntiAffinity":{
      "requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"kubernetes.io/hostname",
      "labelSelector":{"matchLabels":{"app":"alone"}}}]}})");
  loop.run_for(seconds(20));
  EXPECT_EQ(count("Running@n1"), 1U);
  EXPECT_EQ(count("Running@n2"), 1U);
  EXPECT_EQ(count("Pending"), 1U);
  scale("alone", 2);
  make_deployment("flock", 4, "1", R"("affinity":{"podAffinity":{
      "requiredDuringSchedulingIgnoredDuringExecution":[{
      "topologyKey":"topology.kubernetes.io/zone",
      "labelSelector":{"matchLabels":{"app":"flock"}}}]}})");
  loop.run_for(seconds(20));
  EXPECT_EQ(std::max(count("Running@n1"), count("Running@n2")), 5U);
}

TEST_F(SchedulerStandIn, KeepsHostPortsApart) {
  launch("n1", "8");
  loop.run_for(seconds(20));
  const std::string spec =
      R"({"containers":[{"name":"a","image":"b","ports":[{"containerPort":80,"hostPort":80}]}]})";
  for (const auto* name : {"first", "second"}) {
    apply(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + std::string(name) +
          R"("},"spec":)" + spec + "}");
  }
  loop.run_for(seconds(1));
  EXPECT_EQ(node_of("first"), "n1");
  EXPECT_THAT(why_pending("second"), HasSubstr("free ports"));
}

TEST_F(SchedulerStandIn, PlacesThePodOfHigherPriorityFirst) {
  apply(R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass",
      "metadata":{"name":"high"},"value":1000})");
  launch("n1", "4");
  loop.run_for(seconds(20));
  const auto cordon = [this](bool closed) {
    set_node("n1", [closed](boost::json::value& node) {
      node.at("spec").as_object()["unschedulable"] = closed;
    });
  };
  cordon(true);
  loop.run_for(seconds(1));
  apply(one_pod("low", "3"));
  apply(one_pod("high", "3", R"("priorityClassName":"high")"));
  loop.run_for(seconds(20));
  cordon(false);
  loop.run_for(seconds(1));
  EXPECT_EQ(node_of("high"), "n1");
  EXPECT_EQ(node_of("low"), "");
}

TEST_F(SchedulerStandIn, RoomOfAPodThatIsDeletedWhileItIsBoundIsTriedByOthersAtOnce) {
  options.scheduler.bind_latency = seconds(5);
  launch("n1", "4");
  loop.run_for(seconds(20));
  apply(one_pod("first", "3"));
  loop.run_for(seconds(1));
  apply(one_pod("second", "3"));
  loop.run_for(seconds(1));
  EXPECT_THAT(why_pending("second"), HasSubstr("Insufficient cpu"));
  ASSERT_TRUE(api().remove(model::kPodResource, {"default", "first"}).has_value());
  loop.run_for(seconds(10));
  EXPECT_EQ(node_of("second"), "n1");
}

TEST_F(SchedulerStandIn, LeavesGatedAndForeignPodsAlone) {
  launch("n1");
  loop.run_for(seconds(20));
  apply(one_pod("gated", "1", R"("schedulingGates":[{"name":"example.com/wait"}])"));
  apply(one_pod("foreign", "1", R"("schedulerName":"other")"));
  loop.run_for(minutes(1));
  EXPECT_EQ(node_of("gated"), "");
  EXPECT_EQ(node_of("foreign"), "");
  ASSERT_TRUE(api()
                  .update(model::kPodResource, {"default", "gated"},
                          [](boost::json::value& pod) {
                            pod.at("spec").as_object().erase("schedulingGates");
                          })
                  .has_value());
  loop.run_for(seconds(1));
  EXPECT_EQ(node_of("gated"), "n1");
}

class SchedulerPreempts : public WorldFixture {
 protected:
  void SetUp() override {
    apply(R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass",
        "metadata":{"name":"high"},"value":1000})");
    launch("n1", "4");
    launch("n2", "4");
    loop.run_for(seconds(20));
  }
};

TEST_F(SchedulerPreempts, WhereTheLeastIsLost) {
  apply(one_pod("big", "4"));
  loop.run_for(seconds(5));
  apply(one_pod("small-1", "2"));
  apply(one_pod("small-2", "2"));
  loop.run_for(seconds(5));
  ASSERT_EQ(count("Running"), 3U);
  const auto spared = node_of("big");
  apply(one_pod("urgent", "2", R"("priorityClassName":"high")"));
  loop.run_for(seconds(20));
  // One pod goes either way; it is the one that had run for a shorter time.
  EXPECT_NE(node_of("urgent"), "");
  EXPECT_EQ(node_of("big"), spared);
  EXPECT_EQ(pods().size(), 3U);
}

TEST_F(SchedulerPreempts, NobodyOfTheSamePriorityOrByPolicyNever) {
  make_deployment("web", 8);
  loop.run_for(seconds(10));
  apply(one_pod("equal", "2"));
  apply(one_pod("polite", "2", R"("priorityClassName":"high","preemptionPolicy":"Never")"));
  loop.run_for(seconds(20));
  EXPECT_EQ(count("Running"), 8U);
  EXPECT_EQ(node_of("equal"), "");
  EXPECT_EQ(node_of("polite"), "");
}

TEST_F(SchedulerPreempts, SparesPodsUnderABudget) {
  apply(one_pod("guarded", "4", {}, R"("labels":{"app":"guarded"})"));
  apply(one_pod("plain", "4"));
  apply(R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"guard"},
      "spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"guarded"}}}})");
  loop.run_for(seconds(20));
  const auto expected = node_of("plain");
  apply(one_pod("urgent", "2", R"("priorityClassName":"high")"));
  loop.run_for(seconds(20));
  EXPECT_EQ(node_of("urgent"), expected);
  EXPECT_NE(node_of("guarded"), "no such pod");
}

TEST_F(SchedulerPreempts, AndKeepsTheRoomForWhomItWasMade) {
  make_deployment("web", 8);
  loop.run_for(seconds(10));
  apply(one_pod("urgent", "2", R"("priorityClassName":"high")"));
  apply(one_pod("greedy", "1"));
  loop.run_for(seconds(30));
  EXPECT_NE(node_of("urgent"), "");
  EXPECT_EQ(node_of("greedy"), "");
}

}  // namespace
}  // namespace millwright::sandbox
