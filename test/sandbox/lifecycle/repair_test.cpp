// Nodes that stay broken are replaced, and when they are not (feature gate NodeRepair).

#include "millwright/controllers/services.hpp"
#include "millwright/model/labels.hpp"
#include "sandbox/lifecycle/lifecycle_fixture.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace millwright::test {
namespace {

namespace json = boost::json;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class Repair : public LifecycleFixture {
 protected:
  // A node for each of so many pods, which stay on a node that is not Ready.
  void up(int nodes, const PoolText& pool = {}, bool gate = true,
          const std::string& pod_metadata = {}) {
    app::EmbeddedOptions options;
    options.controllers.node_repair = gate;
    start(std::move(options));
    apply_class();
    apply_pool(pool);
    deploy({.replicas = nodes, .pod_metadata = pod_metadata, .pod_spec = R"(
      tolerations:
      - {key: node.kubernetes.io/not-ready, operator: Exists}
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}
)"});
    ASSERT_TRUE(wait_running("web", static_cast<std::size_t>(nodes)));
    run_for(minutes(1));
    ASSERT_EQ(names().size(), static_cast<std::size_t>(nodes));
  }

  // Of the nodes that are there, sorted.
  std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const auto& node : nodes()) {
      all.push_back(node->meta.name);
    }
    std::sort(all.begin(), all.end());
    return all;
  }
  bool is_there(const std::string& node) {
    const auto all = names();
    return std::find(all.begin(), all.end(), node) != all.end();
  }

  std::string claim_of(const std::string& node) {
    const auto record = controllers::find_node(*state().snapshot(), node);
    return record ? record->claim_name() : "";
  }

  // What a kubelet, or an agent beside it, would write.
  void set_condition(const std::string& node, const std::string& type, const std::string& status) {
    const std::string time = base::format_rfc3339(now());
    change(
        model::kNodeResource, node,
        [&](json::value& object) {
          auto& conditions = object.at("status").at("conditions").as_array();
          const auto found =
              std::find_if(conditions.begin(), conditions.end(), [&type](const json::value& each) {
                return std::string_view(each.at("type").as_string()) == type;
              });
          json::object& entry = found == conditions.end()
                                    ? conditions.emplace_back(json::object{}).as_object()
                                    : found->as_object();
          entry["type"] = json::string(type);
          entry["status"] = json::string(status);
          entry["lastTransitionTime"] = json::string(time);
        },
        {}, "status");
  }
  void break_node(const std::string& node) { set_condition(node, "Ready", "False"); }

  void annotate_pool(const std::string& value) {
    change(model::kNodePoolResource, "default", [&value](json::value& object) {
      auto& annotations = object.at("metadata").as_object()["annotations"];
      if (!annotations.is_object()) {
        annotations = json::object{};
      }
      annotations.as_object()[model::kRepairWithinBudgetsAnnotation] = json::string(value);
    });
  }
  void set_budget(const std::string& nodes) {
    change(model::kNodePoolResource, "default", [&nodes](json::value& object) {
      object.at("spec").at("disruption").as_object()["budgets"] =
          json::array{json::object{{"nodes", json::string(nodes)}}};
    });
  }

  // No pod of the Deployment may be evicted.
  void keep_three() {
    apply(
        "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: keep, namespace: "
        "default}\nspec: {minAvailable: 3, selector: {matchLabels: {app: web}}}\n");
    run_for(seconds(5));
  }

  // "Node x", "NodeClaim x", "NodePool x" of the events NodeRepairBlocked.
  std::vector<std::string> told() {
    std::vector<std::string> all;
    for (const auto& event : event_texts("NodeRepairBlocked")) {
      all.push_back(event.about);
    }
    return all;
  }
};

TEST_F(Repair, ReplacesANodeThatStaysBrokenForTenMinutes) {
  up(3);
  const auto broken = names().front();
  break_node(broken);
  run_for(minutes(9));
  EXPECT_TRUE(is_there(broken));
  EXPECT_THAT(metrics(), Not(HasSubstr("reason=\"unhealthy\"")));
  ASSERT_TRUE(wait([&] { return !is_there(broken); }, minutes(5)));
  ASSERT_TRUE(wait_running("web", 3));
  EXPECT_THAT(names(), SizeIs(3));
  const auto page = metrics();
  EXPECT_THAT(page, HasSubstr("\nkarpenter_nodeclaims_unhealthy_disrupted_total{capacity_type="
                              "\"on-demand\",condition=\"ready\",image_id="));
  EXPECT_THAT(page, HasSubstr("reason=\"unhealthy\",termination_mode=\"graceful\"} 1\n"))
      << "counted once";
  EXPECT_THAT(told(), IsEmpty());
  EXPECT_THAT(events("DisruptionTerminating"),
              Contains("Disrupting Node: Unhealthy (condition Ready)"));
}

TEST_F(Repair, LeavesANodeAloneThatIsWellAgainInTime) {
  up(1);
  const auto node = names().front();
  break_node(node);
  run_for(minutes(9));
  set_condition(node, "Ready", "True");
  run_for(hours(1));
  EXPECT_TRUE(is_there(node));
  break_node(node);
  run_for(minutes(9));
  EXPECT_TRUE(is_there(node)) << "its time begins anew";
}

TEST_F(Repair, MindsOnlyConditionsThatTheCloudNames) {
  up(1);
  const auto node = names().front();
  set_condition(node, "KernelReady", "False");  // kwok has no policy for it
  set_condition(node, "MemoryPressure", "True");
  run_for(hours(2));
  EXPECT_TRUE(is_there(node));
}

TEST_F(Repair, DoesNothingWithTheGateOff) {
  up(1, {}, false);
  const auto node = names().front();
  break_node(node);
  run_for(hours(2));
  EXPECT_TRUE(is_there(node));
}

// A kubelet that still reports, without a network say: the node has room, and takes no pod.
TEST_F(Repair, NoPodWaitsForABrokenNodeWithTheGateOff) {
  up(1, {}, false);
  const auto node = names().front();
  break_node(node);
  deploy({.name = "late", .replicas = 1, .cpu = "10m"});
  EXPECT_TRUE(wait_running("late", 1, minutes(4)));
  EXPECT_EQ(names().size(), 2u);
  EXPECT_TRUE(is_there(node));
}

TEST_F(Repair, IgnoresBudgetsDoNotDisruptAndGracePeriods) {
  up(3,
     {.disruption = "{consolidateAfter: Never, budgets: [{nodes: \"0\"}]}",
      .template_extra = "      terminationGracePeriod: 24h"},
     true, "      annotations: {karpenter.sh/do-not-disrupt: \"true\"}");
  keep_three();
  const auto broken = names().front();
  change(model::kNodeResource, broken, [](json::value& object) {
    auto& metadata = object.at("metadata").as_object();
    if (!metadata.contains("annotations")) {
      metadata["annotations"] = json::object{};
    }
    metadata["annotations"].as_object()[model::kDoNotDisruptAnnotation] = "true";
  });
  break_node(broken);
  ASSERT_TRUE(wait([&] { return !is_there(broken); }, minutes(13)));
  EXPECT_TRUE(wait_running("web", 3));
}

// PodDisruptionBudgets hold up the end of a NodeClaim that somebody deleted, until its node turns
// out to be broken.
TEST_F(Repair, HastensTheEndOfANodeThatIsGoingAlready) {
  up(3, {.template_extra = "      terminationGracePeriod: 24h"});
  keep_three();
  const auto broken = names().front();
  const auto claim = claim_of(broken);
  remove(model::kNodeClaimResource, claim);
  run_for(minutes(10));
  ASSERT_TRUE(is_there(broken));
  const auto wall = text_of(model::kNodeClaimResource, claim,
                            "/metadata/annotations/karpenter.sh~1nodeclaim-termination-timestamp");
  EXPECT_GT(base::parse_rfc3339(wall).value_or(base::TimePoint{}), now() + hours(20));
  break_node(broken);
  EXPECT_TRUE(wait([&] { return !is_there(broken); }, minutes(13)));
  EXPECT_THAT(metrics(), Not(HasSubstr("reason=\"unhealthy\""))) << "somebody else deleted it";
}

// The API server refused to delete the NodeClaim while its node was broken. What was to be done
// then must not be done to a node that is well, when somebody removes it much later.
TEST_F(Repair, ThatCouldNotBeginHastensNoLaterEnd) {
  up(3);
  const auto broken = names().front();
  api().set_faults({.undeletable = {claim_of(broken)}});
  break_node(broken);
  run_for(minutes(12));
  set_condition(broken, "Ready", "True");
  run_for(seconds(10));
  api().set_faults({});
  run_for(hours(1));
  ASSERT_TRUE(is_there(broken));
  keep_three();
  remove(model::kNodeClaimResource, claim_of(broken));
  run_for(minutes(10));
  EXPECT_TRUE(is_there(broken));
  EXPECT_EQ(running("web"), 3U);
}

TEST_F(Repair, ReplacesNothingWhileMoreThanAFifthOfThePoolIsBroken) {
  up(3);
  const auto before = names();
  break_node(before[0]);
  run_for(minutes(5));
  break_node(before[1]);  // for a short time, but it counts
  run_for(hours(1));
  EXPECT_EQ(names(), before);
  EXPECT_THAT(told(), Contains("Node " + before[0]));
  EXPECT_THAT(told(), Contains("NodeClaim " + claim_of(before[0])));
  EXPECT_THAT(told(), Contains("NodePool default"));
  EXPECT_THAT(events("NodeRepairBlocked"),
              Contains("2 of the 3 nodes of NodePool default are broken; none is replaced while "
                       "more than 1 (20 %) are"));
  for (const auto& event : event_texts("NodeRepairBlocked")) {
    EXPECT_LE(event.count, 5) << event.about << " is told once in fifteen minutes";
  }
  set_condition(before[1], "Ready", "True");
  EXPECT_TRUE(wait([&] { return !is_there(before[0]); }, minutes(7)));
  EXPECT_TRUE(is_there(before[1]));
}

TEST_F(Repair, OfANodeWithoutAPoolLooksAtTheWholeCluster) {
  up(2);
  const auto of_pool = names();
  apply(R"(
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: alone}
spec:
  nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
  requirements:
  - {key: kubernetes.io/os, operator: In, values: [linux]}
  - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
  resources: {requests: {cpu: "3"}}
)");
  ASSERT_TRUE(
      wait([&] { return condition(model::kNodeClaimResource, "alone", "Initialized") == "True"; }));
  const auto alone = text_of(model::kNodeClaimResource, "alone", "/status/nodeName");
  for (const auto& node : names()) {
    break_node(node);
  }
  run_for(hours(1));
  EXPECT_THAT(names(), SizeIs(3));
  EXPECT_THAT(events("NodeRepairBlocked"),
              Contains("3 of the 3 nodes of the cluster are broken; none is replaced while more "
                       "than 1 (20 %) are"));
  for (const auto& node : of_pool) {
    set_condition(node, "Ready", "True");
  }
  EXPECT_TRUE(wait([&] { return !is_there(alone); }, minutes(7)));
  EXPECT_EQ(names(), of_pool) << "nobody asked for another";
}

TEST_F(Repair, KeepsToBudgetsWhereItsPoolAsksForIt) {
  up(6, {.disruption = "{consolidateAfter: Never, budgets: [{nodes: \"0\"}]}"});
  annotate_pool("true");
  const auto before = names();
  break_node(before[0]);
  break_node(before[1]);
  run_for(hours(1));
  EXPECT_EQ(names(), before);
  EXPECT_THAT(told(), Contains("Node " + before[0]));
  EXPECT_THAT(told(), Contains("NodePool default"));
  EXPECT_THAT(events("NodeRepairBlocked"),
              Contains(HasSubstr("spec.disruption.budgets of NodePool default")));
  set_budget("1");
  // One after the other: never two at once.
  ASSERT_TRUE(wait([&] { return !is_there(before[0]) || !is_there(before[1]); }, minutes(5)));
  EXPECT_TRUE(is_there(before[0]) || is_there(before[1]));
  EXPECT_TRUE(wait([&] { return !is_there(before[0]) && !is_there(before[1]); }, minutes(10)));
  EXPECT_TRUE(wait_running("web", 6));
}

}  // namespace
}  // namespace millwright::test
