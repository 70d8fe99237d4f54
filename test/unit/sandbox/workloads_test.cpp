// Workload controllers, node lifecycle and garbage collection in virtual time.
#include "unit/sandbox/world_fixture.hpp"

#include <boost/json.hpp>

namespace millwright::sandbox {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class Workloads : public WorldFixture {
 protected:
  std::string status(const model::Resource& resource, const std::string& name,
                     const std::string& field) {
    const auto object = api().get(resource, {resource.namespaced ? "default" : "", name});
    return object ? text_at(**object, "status." + field) : "gone";
  }
};

TEST_F(Workloads, ADeploymentRunsItsReplicasAndReportsThem) {
  launch("n1", "8");
  make_deployment("web", 3);
  loop.run_for(seconds(30));
  EXPECT_EQ(count("Running@n1"), 3U);
  EXPECT_EQ(status(model::kDeploymentResource, "web", "availableReplicas"), "3");
  EXPECT_EQ(status(model::kDeploymentResource, "web", "observedGeneration"), "1");
  scale("web", 1);
  loop.run_for(seconds(10));
  EXPECT_EQ(pods().size(), 1U);
  scale("web", 0);
  loop.run_for(seconds(10));
  EXPECT_EQ(pods().size(), 0U);
  EXPECT_EQ(status(model::kDeploymentResource, "web", "replicas"), "0");
}

TEST_F(Workloads, ARollingUpdateKeepsEnoughPodsAvailable) {
  launch("n1", "16");
  make_deployment("web", 4);
  loop.run_for(seconds(30));
  std::size_t fewest = 4;
  world().recorder().on_change([&] {
    std::size_t ready = 0;
    for (const auto& [uid, pod] : world().recorder().pods()) {
      ready += pod.running && !pod.deleting ? 1 : 0;
    }
    fewest = std::min(fewest, ready);
  });
  ASSERT_TRUE(api()
                  .update(model::kDeploymentResource, {"default", "web"},
                          [](boost::json::value& json) {
                            json.at("spec")
                                .at("template")
                                .at("spec")
                                .at("containers")
                                .at(0)
                                .as_object()["image"] = "app:2";
                          })
                  .has_value());
  loop.run_for(minutes(1));
  EXPECT_EQ(count("Running"), 4U);
  for (const auto& pod : api().list(model::kPodResource)) {
    EXPECT_EQ(text_at(pod->at("spec").at("containers").at(0), "image"), "app:2");
  }
  EXPECT_GE(fewest, 3U);
  EXPECT_EQ(api().list(model::kReplicaSetResource).size(), 2U);
}

TEST_F(Workloads, DeletingADeploymentTakesItsPodsAlong) {
  launch("n1", "8");
  make_deployment("web", 3);
  loop.run_for(seconds(30));
  ASSERT_TRUE(api().remove(model::kDeploymentResource, {"default", "web"}).has_value());
  loop.run_for(seconds(30));
  EXPECT_EQ(pods().size(), 0U);
  EXPECT_EQ(api().list(model::kReplicaSetResource).size(), 0U);
}

TEST_F(Workloads, AForegroundDeletionEndsWithTheOwner) {
  launch("n1", "8");
  make_deployment("web", 2);
  loop.run_for(seconds(30));
  ASSERT_TRUE(api()
                  .remove(model::kDeploymentResource, {"default", "web"},
                          {.propagation_policy = "Foreground"})
                  .has_value());
  EXPECT_TRUE(api().get(model::kDeploymentResource, {"default", "web"}).has_value());
  loop.run_for(seconds(30));
  EXPECT_FALSE(api().get(model::kDeploymentResource, {"default", "web"}).has_value());
  EXPECT_EQ(pods().size(), 0U);
}

TEST_F(Workloads, ADaemonSetRunsOnEveryNodeItMay) {
  apply(R"({"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"agent"},"spec":{
      "selector":{"matchLabels":{"app":"agent"}},"template":{"metadata":{"labels":{"app":"agent"}},
      "spec":{"nodeSelector":{"disk":"ssd"},"containers":[{"name":"a","image":"b"}]}}}})");
  launch("n1", "4", {{"disk", "ssd"}});
  launch("n2", "4", {{"disk", "hdd"}});
  loop.run_for(seconds(30));
  launch("n3", "4", {{"disk", "ssd"}});
  loop.run_for(seconds(30));
  EXPECT_EQ(count("Running@n1"), 1U);
  EXPECT_EQ(count("Running@n2"), 0U);
  EXPECT_EQ(count("Running@n3"), 1U);
  EXPECT_EQ(status(model::kDaemonSetResource, "agent", "numberReady"), "2");
}

TEST_F(Workloads, AJobRunsToItsEnd) {
  launch("n1", "8");
  apply(R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"sum"},"spec":{
      "completions":3,"parallelism":2,"template":{
        "metadata":{"annotations":{"sandbox.millwright.io/run-for":"20s"}},
        "spec":{"restartPolicy":"Never","containers":[{"name":"a","image":"b"}]}}}})");
  loop.run_for(seconds(20));
  EXPECT_EQ(status(model::kJobResource, "sum", "active"), "2");
  loop.run_for(minutes(2));
  EXPECT_EQ(status(model::kJobResource, "sum", "succeeded"), "3");
  EXPECT_NE(status(model::kJobResource, "sum", "completionTime"), "");
  EXPECT_EQ(count("Succeeded"), 3U);
}

TEST_F(Workloads, AJobWithoutCompletionsEndsWithItsPods) {
  launch("n1", "8");
  apply(R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"queue"},"spec":{
      "parallelism":3,"template":{
        "metadata":{"annotations":{"sandbox.millwright.io/run-for":"20s"}},
        "spec":{"restartPolicy":"Never","containers":[{"name":"a","image":"b"}]}}}})");
  loop.run_for(seconds(20));
  EXPECT_EQ(status(model::kJobResource, "queue", "active"), "3");
  loop.run_for(minutes(2));
  EXPECT_EQ(status(model::kJobResource, "queue", "succeeded"), "3");
  EXPECT_NE(status(model::kJobResource, "queue", "completionTime"), "");
}

TEST_F(Workloads, ASuspendedJobHasNotStarted) {
  launch("n1", "8");
  apply(R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"later"},"spec":{
      "suspend":true,"template":{
        "metadata":{"annotations":{"sandbox.millwright.io/run-for":"60s"}},
        "spec":{"restartPolicy":"Never","containers":[{"name":"a","image":"b"}]}}}})");
  loop.run_for(seconds(20));
  EXPECT_EQ(status(model::kJobResource, "later", "active"), "0");
  EXPECT_EQ(status(model::kJobResource, "later", "startTime"), "");
  ASSERT_TRUE(
      api()
          .update(model::kJobResource, {"default", "later"},
                  [](boost::json::value& json) { json.at("spec").as_object()["suspend"] = false; })
          .has_value());
  loop.run_for(seconds(20));
  EXPECT_EQ(status(model::kJobResource, "later", "active"), "1");
  EXPECT_NE(status(model::kJobResource, "later", "startTime"), "");
}

TEST_F(Workloads, AStatefulSetCountsItsPodsUpAndDown) {
  launch("n1", "8");
  apply(R"({"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"db"},"spec":{
      "replicas":3,"serviceName":"db","selector":{"matchLabels":{"app":"db"}},
      "template":{"metadata":{"labels":{"app":"db"}},
      "spec":{"containers":[{"name":"a","image":"b"}]}}}})");
  loop.run_for(minutes(1));
  EXPECT_EQ(node_of("db-2"), "n1");
  ASSERT_TRUE(
      api()
          .update(model::kStatefulSetResource, {"default", "db"},
                  [](boost::json::value& json) { json.at("spec").as_object()["replicas"] = 1; })
          .has_value());
  loop.run_for(minutes(1));
  EXPECT_EQ(pods().size(), 1U);
  EXPECT_EQ(node_of("db-0"), "n1");
}

TEST_F(Workloads, ABudgetCountsWhatMayBeEvicted) {
  launch("n1", "8");
  make_deployment("web", 4);
  apply(R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"guard"},
      "spec":{"maxUnavailable":"25%","selector":{"matchLabels":{"app":"web"}}}})");
  loop.run_for(seconds(30));
  EXPECT_EQ(status(model::kPodDisruptionBudgetResource, "guard", "desiredHealthy"), "3");
  EXPECT_EQ(status(model::kPodDisruptionBudgetResource, "guard", "disruptionsAllowed"), "1");
}

TEST_F(Workloads, ADeletedNamespaceGoesWithItsContent) {
  apply(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"team"}})");
  apply(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"team"}})");
  ASSERT_TRUE(api().remove(model::kNamespaceResource, {{}, "team"}).has_value());
  loop.run_for(seconds(5));
  EXPECT_FALSE(api().get(model::kNamespaceResource, {{}, "team"}).has_value());
  EXPECT_TRUE(api().list(model::kConfigMapResource).empty());
}

TEST_F(Workloads, ANodeBootsIsNotReadyAndThenReady) {
  launch("n1", "4", {}, seconds(20));
  loop.run_for(seconds(19));
  EXPECT_FALSE(api().get(model::kNodeResource, {{}, "n1"}).has_value());
  loop.run_for(seconds(2));
  EXPECT_THAT(text_at(**api().get(model::kNodeResource, {{}, "n1"}), "spec.taints"),
              testing::HasSubstr("node.kubernetes.io/not-ready"));
  loop.run_for(seconds(10));
  EXPECT_EQ(text_at(**api().get(model::kNodeResource, {{}, "n1"}), "spec.taints"), "");
}

TEST_F(Workloads, ATerminatedMachinesNodeIsUnknownAndThenForgotten) {
  launch("n1", "4");
  make_deployment("web", 1);
  loop.run_for(seconds(20));
  terminate("n1");
  loop.run_for(seconds(42));
  const auto node = api().get(model::kNodeResource, {{}, "n1"});
  ASSERT_TRUE(node.has_value());
  EXPECT_THAT(text_at(**node, "spec.taints"), testing::HasSubstr("unreachable"));
  EXPECT_THAT(text_at(**node, "status.conditions"), testing::HasSubstr("NodeStatusUnknown"));
  EXPECT_EQ(count("Running@n1"), 1U);
  loop.run_for(minutes(2));
  EXPECT_FALSE(api().get(model::kNodeResource, {{}, "n1"}).has_value());
  EXPECT_EQ(count("Pending@"), 1U);
}

TEST_F(Workloads, PodsOfADeletedNodeAreCollected) {
  launch("n1", "4");
  make_deployment("web", 1);
  loop.run_for(seconds(20));
  terminate("n1");
  ASSERT_TRUE(api().remove(model::kNodeResource, {{}, "n1"}).has_value());
  loop.run_for(minutes(1));
  EXPECT_EQ(count("Running"), 0U);
  EXPECT_EQ(count("Pending@"), 1U);
}

TEST_F(Workloads, ANoExecuteTaintDrivesPodsOut) {
  launch("n1", "4");
  apply(one_pod("plain"));
  apply(one_pod("patient", "1",
                R"("tolerations":[{"key":"leave","operator":"Exists","tolerationSeconds":60}])"));
  apply(one_pod("settled", "1", R"("tolerations":[{"key":"leave","operator":"Exists"}])"));
  loop.run_for(seconds(20));
  set_node("n1", [](boost::json::value& node) {
    node.at("spec").as_object()["taints"] =
        boost::json::parse(R"([{"key":"leave","effect":"NoExecute"}])");
  });
  loop.run_for(seconds(10));
  EXPECT_EQ(pods().size(), 2U);
  loop.run_for(seconds(60));
  EXPECT_EQ(node_of("settled"), "n1");
  EXPECT_EQ(pods().size(), 1U);
}

TEST_F(Workloads, TwoRunsOfOneSeedAreTheSame) {
  const auto run = [this] {
    base::VirtualLoop own(test_start());
    World other(own, options);
    other.start();
    const auto object = boost::json::parse(R"({"metadata":{"name":"web"},"spec":{"replicas":5,
        "selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},
        "spec":{"containers":[{"name":"a","image":"b"}]}}}})");
    EXPECT_TRUE(other.api().create(model::kDeploymentResource, object).has_value());
    own.run_for(minutes(1));
    std::string all;
    for (const auto& pod : other.api().list(model::kPodResource)) {
      all += boost::json::serialize(*pod);
    }
    return all;
  };
  const auto first = run();
  EXPECT_FALSE(first.empty());
  EXPECT_EQ(first, run());
}

}  // namespace
}  // namespace millwright::sandbox
