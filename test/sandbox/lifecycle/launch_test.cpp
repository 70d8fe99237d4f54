// From a pending pod to a node, and what happens when the way there fails.

#include "sandbox/lifecycle/lifecycle_fixture.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace millwright::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::SizeIs;

class Launch : public LifecycleFixture {
 protected:
  static app::EmbeddedOptions with(cloud::SimulatedSettings settings) {
    app::EmbeddedOptions options;
    options.settings[cloud::Profile::Kwok] = std::move(settings);
    return options;
  }

  void run_one_pod() {
    start();
    apply_class();
    apply_pool();
    deploy({.replicas = 1});
    ASSERT_TRUE(wait_running("web", 1));
  }
  // Past its finalizer, as people do.
  void remove_by_force(const std::string& node) {
    change(model::kNodeResource, node,
           [](boost::json::value& json) { json.at("metadata").as_object().erase("finalizers"); });
    run_for(seconds(1));
    remove(model::kNodeResource, node);
  }
  // The Node is deleted past its finalizer, and its kubelet registers it anew, as a kubelet does:
  // under its name or, where the machine's name has changed, under another. Returns that.
  std::string join_once_more(const std::string& suffix, base::Duration away = seconds(2)) {
    const auto name = nodes().front()->meta.name;
    boost::json::value node = **api().get(model::kNodeResource, {.namespace_ = {}, .name = name});
    remove_by_force(name);
    run_for(away);
    node.at("metadata") = {{"name", name + suffix}};
    EXPECT_TRUE(api().create(model::kNodeResource, node));
    return name + suffix;
  }
  bool is_initialized(const std::string& claim) {
    const auto all = nodes();
    return all.size() == 1 && all.front()->meta.label("karpenter.sh/initialized") == "true" &&
           condition(model::kNodeClaimResource, claim, "Initialized") == "True";
  }
};

TEST_F(Launch, APodBecomesAClaimANodeAndARunningPod) {
  start();
  apply_class();
  apply_pool();
  deploy({.replicas = 3});
  ASSERT_TRUE(wait_running("web", 3));
  ASSERT_THAT(claims(), SizeIs(1));
  const auto claim = claims().front()->meta.name;
  for (const std::string type : {"Launched", "Registered", "Initialized", "Ready"}) {
    EXPECT_EQ(condition(model::kNodeClaimResource, claim, type), "True") << type;
  }
  ASSERT_THAT(nodes(), SizeIs(1));
  const auto& node = *nodes().front();
  EXPECT_EQ(node.meta.labels.at("karpenter.sh/nodepool"), "default");
  EXPECT_EQ(node.meta.labels.at("karpenter.sh/initialized"), "true");
  EXPECT_EQ(node.meta.labels.at("karpenter.sh/registered"), "true");
  EXPECT_THAT(node.meta.finalizers, Contains("karpenter.sh/termination"));
  EXPECT_THAT(node.taints, IsEmpty());
  EXPECT_EQ(text_of(model::kNodeClaimResource, claim, "/status/nodeName"), node.meta.name);
  run_for(seconds(30));
  EXPECT_EQ(text_of(model::kNodePoolResource, "default", "/status/resources/nodes"), "1");
  EXPECT_EQ(text_of(model::kNodePoolResource, "default", "/status/nodes"), "1");
}

TEST_F(Launch, AMachineThatJoinsOnceMoreIsInitializedOnceMore) {
  for (const std::string suffix : {"", "-renamed"}) {
    run_one_pod();
    const auto name = join_once_more(suffix);
    ASSERT_THAT(claims(), SizeIs(1));
    const auto claim = claims().front()->meta.name;
    EXPECT_TRUE(wait([&] { return is_initialized(claim); }, minutes(1))) << inventory();
    EXPECT_THAT(claims(), SizeIs(1)) << inventory();
    EXPECT_EQ(text_of(model::kNodeClaimResource, claim, "/status/nodeName"), name);
    EXPECT_THAT(nodes().front()->meta.finalizers, Contains("karpenter.sh/termination"));
  }
}

// The claim changed while its second Node was registered, so that its own write was refused.
TEST_F(Launch, AMachineThatJoinsOnceMoreIsInitializedThoughAWriteFails) {
  for (const std::string suffix : {"", "-renamed"}) {
    run_one_pod();
    const auto name = join_once_more(suffix);
    const auto claim = claims().front()->meta.name;
    ASSERT_TRUE(wait([&] {
      return nodes().size() == 1 && nodes().front()->meta.label("karpenter.sh/registered") != "";
    }));
    change(model::kNodeClaimResource, claim, [](boost::json::value& json) {
      json.at("metadata").as_object()["annotations"].emplace_object()["changed-by"] = "a person";
    });
    EXPECT_TRUE(wait([&] { return is_initialized(claim); }, minutes(1))) << inventory();
    EXPECT_EQ(text_of(model::kNodeClaimResource, claim, "/status/nodeName"), name);
  }
}

// Somebody deleted the Node past its finalizer, and its kubelet registers only when it starts.
TEST_F(Launch, AMachineThatDoesNotJoinOnceMoreIsGivenUp) {
  run_one_pod();
  const auto claim = claims().front()->meta.name;
  remove_by_force(nodes().front()->meta.name);
  const auto is_given_up = [&] {
    return claims().size() == 1 && claims().front()->meta.name != claim;
  };
  EXPECT_TRUE(wait(is_given_up, minutes(20))) << inventory();
  EXPECT_TRUE(wait_running("web", 1, minutes(2))) << inventory();
  EXPECT_TRUE(wait_instances(1)) << inventory();
}

TEST_F(Launch, AMachineHasItsTimeToJoinOnceMore) {
  run_one_pod();
  const auto claim = claims().front()->meta.name;
  join_once_more("", minutes(10));
  EXPECT_TRUE(wait([&] { return is_initialized(claim); }, minutes(1))) << inventory();
  run_for(minutes(20));
  ASSERT_THAT(claims(), SizeIs(1)) << inventory();
  EXPECT_EQ(claims().front()->meta.name, claim);
  EXPECT_EQ(running("web"), 1U);
}

// Another machine's kubelet lied about its provider id, and was faster.
TEST_F(Launch, TheOtherNodeOfAMachineIsInitializedOnceTheFirstIsGone) {
  cloud::SimulatedSettings settings;
  settings.boot = {hours(5), hours(5), hours(5)};  // the kubelets are played here
  start(with(settings));
  apply_class();
  apply_pool();
  deploy({});
  ASSERT_TRUE(wait_instances(1));
  const auto claim = claims().front()->meta.name;
  const auto provider_id = instances().front().provider_id;
  const auto join = [&](const std::string& name) {
    apply("apiVersion: v1\nkind: Node\nmetadata: {name: " + name +
          "}\nspec:\n  providerID: " + provider_id +
          "\n  taints: [{key: karpenter.sh/unregistered, effect: NoExecute}]\n"
          "status:\n  capacity: {cpu: \"2\", memory: 4Gi, pods: \"110\"}\n"
          "  allocatable: {cpu: \"2\", memory: 4Gi, pods: \"110\"}\n"
          "  conditions: [{type: Ready, status: \"True\"}]\n");
  };
  const auto joined = [&] { return text_of(model::kNodeClaimResource, claim, "/status/nodeName"); };
  join("b");
  ASSERT_TRUE(wait([&] { return is_initialized(claim); }, minutes(1))) << inventory();
  join("a");
  run_for(minutes(1));
  ASSERT_EQ(joined(), "b");
  remove_by_force("b");
  EXPECT_TRUE(wait([&] { return joined() == "a" && is_initialized(claim); }, minutes(1)))
      << inventory();
}

// Every write of a claim is a request, and an event for all who watch.
TEST_F(Launch, AClaimIsWrittenNoMoreThanItsNewsAsksFor) {
  start();
  std::set<std::string> versions;
  recorder().on_change([&] {
    for (const auto& claim : claims()) {
      versions.insert(claim->meta.resource_version);
    }
  });
  apply_class();
  apply_pool({.disruption = "{consolidateAfter: 5s}"});
  deploy({.name = "steady", .cpu = "1"});
  deploy({.name = "busy", .cpu = "1"});
  ASSERT_TRUE(wait_running("steady", 1) && wait_running("busy", 1));
  ASSERT_THAT(claims(), SizeIs(1));
  run_for(seconds(8));
  // Made; labels and status of the instance; its Node; two obstacles and their end; the pods' time;
  // agreement with the Node; Consolidatable.
  EXPECT_LE(versions.size(), 10U);

  versions.clear();
  for (int i = 0; i < 20; ++i) {
    scale("busy", i % 2);
    run_for(seconds(3));
  }
  ASSERT_THAT(claims(), SizeIs(1)) << inventory();
  EXPECT_EQ(condition(model::kNodeClaimResource, claims().front()->meta.name, "Consolidatable"),
            "");
  EXPECT_LE(versions.size(), 8U);  // a minute, and the pods' time is written every ten seconds
}

TEST_F(Launch, APodThatNamesItsPoolAsBeforeRunsOnANodeOfANativePool) {
  start();
  apply_class();
  apply_pool();
  deploy({.pod_spec = "      nodeSelector: {karpenter.sh/provisioner-name: default}"});
  ASSERT_TRUE(wait_running("web", 1));
  EXPECT_THAT(claims(), SizeIs(1));
}

TEST_F(Launch, DemandThatComesLittleByLittleIsBoughtForTogether) {
  start();
  apply_class();
  apply_pool();
  deploy({.name = "first", .cpu = "3"});
  ASSERT_TRUE(wait([&] { return claims().size() == 1; }));
  deploy({.name = "second", .cpu = "3"});
  run_for(std::chrono::milliseconds(150));
  deploy({.name = "third", .cpu = "3"});
  for (const std::string name : {"first", "second", "third"}) {
    ASSERT_TRUE(wait_running(name, 1)) << name;
  }
  EXPECT_THAT(claims(), SizeIs(2)) << inventory();
}

TEST_F(Launch, NothingIsBoughtWhileAWorkloadIsAboutToDeletePods) {
  app::EmbeddedOptions options;
  options.world.replica_pods_per_second = 4;
  start(std::move(options));
  apply_class();
  apply_pool();
  deploy({.name = "old", .replicas = 2, .cpu = "1500m"});
  ASSERT_TRUE(wait_running("old", 2));
  ASSERT_THAT(claims(), SizeIs(1));
  scale("old", 0);
  deploy({.name = "new", .cpu = "3"});
  ASSERT_TRUE(wait_running("new", 1));
  EXPECT_THAT(claims(), SizeIs(1)) << inventory();
}

// Two of the pods move into the old ones' room; the first is reported before the others exist.
TEST_F(Launch, ForeseenPodsDoNotCountOnRoomThatOthersWillTake) {
  app::EmbeddedOptions options;
  options.world.replica_pods_per_second = 4;
  start(std::move(options));
  apply_class();
  apply_pool();
  deploy({.name = "old", .replicas = 2, .cpu = "1500m"});
  ASSERT_TRUE(wait_running("old", 2));
  remove(model::kDeploymentResource, "old", "default");
  deploy({.name = "new", .replicas = 4, .cpu = "1500m"});
  ASSERT_TRUE(wait_running("new", 4));
  EXPECT_THAT(claims(), SizeIs(2)) << inventory();
}

TEST_F(Launch, AnOfferingThatIsSoldOutIsReplacedByTheNextBest) {
  start();
  apply_class();
  apply_pool();
  deploy({});
  ASSERT_TRUE(wait_running("web", 1));
  const auto cheapest = nodes().front()->meta.labels.at("node.kubernetes.io/instance-type");
  remove(model::kDeploymentResource, "web", "default");
  remove(model::kNodePoolResource, "default");
  ASSERT_TRUE(wait_empty());

  cloud().sell_out({.instance_type = cheapest});
  apply_pool({.name = "second"});
  deploy({});
  ASSERT_TRUE(wait_running("web", 1));
  EXPECT_THAT(claims(), SizeIs(1));
  EXPECT_NE(nodes().front()->meta.labels.at("node.kubernetes.io/instance-type"), cheapest);
}

TEST_F(Launch, WithNothingLeftThePodWaitsAndRunsOnceThereIsStockAgain) {
  start();
  apply_class();
  apply_pool();
  cloud().sell_out({});
  deploy({});
  ASSERT_TRUE(wait([&] { return !events("InsufficientCapacityError").empty(); }));
  EXPECT_EQ(running("web"), 0U);
  EXPECT_THAT(instances(), IsEmpty());
  cloud().restock({});
  EXPECT_TRUE(wait_running("web", 1));
  EXPECT_THAT(claims(), SizeIs(1));
  EXPECT_THAT(instances(), SizeIs(1));
}

TEST_F(Launch, ThePodThatWaitsIsToldWhyAndWhatToDoOnceInFiveMinutes) {
  start();
  apply_class();
  apply_pool();
  cloud().sell_out({});
  deploy({});
  const auto told = [&] {
    std::vector<EventText> texts;
    for (auto& each : event_texts("InsufficientCapacityError")) {
      if (each.about.starts_with("Pod web")) {
        texts.push_back(std::move(each));
      }
    }
    return texts;
  };
  ASSERT_TRUE(wait([&] { return !told().empty(); }));
  run_for(minutes(4));
  ASSERT_THAT(told(), SizeIs(1));
  EXPECT_EQ(told().front().count, 1);
  EXPECT_THAT(told().front().message,
              AllOf(HasSubstr("planned for this pod"), HasSubstr("cannot be launched"),
                    HasSubstr("NodePool default may allow more instance types")));
}

TEST_F(Launch, APodIsToldOfALaunchThatFailsForGood) {
  cloud::SimulatedSettings settings;
  settings.error_rate = 1;
  start(with(settings));
  apply_class();
  apply_pool();
  deploy({});
  const auto about = [&] {
    std::vector<std::string> whom;
    for (const auto& each : event_texts("LaunchFailed")) {
      whom.push_back(each.about.substr(0, each.about.find(' ')));
    }
    return whom;
  };
  EXPECT_TRUE(wait([&] { return about().size() >= 2; }));
  EXPECT_THAT(about(), IsSupersetOf({"Pod", "NodeClaim"}));
}

TEST_F(Launch, ALostReplyMakesNoSecondInstance) {
  cloud::SimulatedSettings settings;
  settings.lost_reply_rate = 0.7;
  start(with(settings));
  apply_class();
  apply_pool();
  deploy({.replicas = 20, .cpu = "200"});
  ASSERT_TRUE(wait_running("web", 20, hours(2)));
  EXPECT_EQ(instances().size(), claims().size());
  std::set<std::string> owners;
  for (const auto& instance : instances()) {
    EXPECT_TRUE(owners.insert(instance.node_claim).second) << instance.node_claim << " has two";
  }
}

TEST_F(Launch, AClaimWhoseNodeNeverRegistersIsGivenUpWithItsInstance) {
  cloud::SimulatedSettings settings;
  settings.boot = {hours(5), hours(5), hours(5)};
  start(with(settings));
  apply_class();
  apply_pool();
  deploy({});
  ASSERT_TRUE(wait_instances(1));
  const auto silent = instances().front().provider_id;
  run_for(minutes(14));
  ASSERT_THAT(instances(), SizeIs(1));
  EXPECT_EQ(instances().front().provider_id, silent) << "given up before its timeout";
  cloud().configure({});
  ASSERT_TRUE(wait_running("web", 1));
  ASSERT_THAT(instances(), SizeIs(1));
  EXPECT_NE(instances().front().provider_id, silent);
}

TEST_F(Launch, AClaimThatTheCloudNeverAnswersIsGivenUpAfterFiveMinutes) {
  cloud::SimulatedSettings settings;
  settings.error_rate = 1;
  start(with(settings));
  apply_class();
  apply_pool();
  deploy({});
  ASSERT_TRUE(wait([&] { return !claims().empty(); }));
  const auto first = claims().front()->meta.name;
  run_for(minutes(4));
  ASSERT_THAT(claims(), SizeIs(1));
  EXPECT_EQ(claims().front()->meta.name, first);
  run_for(minutes(3));
  for (const auto& claim : claims()) {
    EXPECT_TRUE(claim->meta.name != first || claim->meta.is_deleting());
  }
  cloud().configure({});
  EXPECT_TRUE(wait_running("web", 1));
  EXPECT_EQ(instances().size(), claims().size());
}

TEST_F(Launch, APoolTellsWhetherItsNodesRegister) {
  const auto healthy = [this] {
    return condition(model::kNodePoolResource, "default", "NodeRegistrationHealthy");
  };
  cloud::SimulatedSettings settings;
  settings.boot = {hours(5), hours(5), hours(5)};
  start(with(settings));
  apply_class();
  apply_pool();
  deploy({});
  ASSERT_TRUE(wait_instances(1));
  EXPECT_EQ(healthy(), "Unknown");
  run_for(minutes(20));
  EXPECT_EQ(healthy(), "Unknown") << "one failure proves nothing";
  ASSERT_TRUE(wait([&] { return healthy() == "False"; }, minutes(20)));
  EXPECT_EQ(condition(model::kNodePoolResource, "default", "Ready"), "True")
      << "the condition is for people";
  change(model::kNodePoolResource, "default",
         [](auto& pool) { pool.at("spec").as_object()["weight"] = 7; });
  ASSERT_TRUE(wait([&] { return healthy() == "Unknown"; })) << "the pool is another now";
  cloud().configure({});
  ASSERT_TRUE(wait_running("web", 1, hours(1)));
  EXPECT_EQ(healthy(), "True");
}

TEST_F(Launch, APoolWithoutItsClassIsNotReadyAndSaysWhy) {
  start();
  apply_pool();
  deploy({});
  ASSERT_TRUE(wait(
      [&] { return condition(model::kNodePoolResource, "default", "NodeClassReady") == "False"; }));
  EXPECT_EQ(condition(model::kNodePoolResource, "default", "Ready"), "False");
  ASSERT_TRUE(wait([&] { return !events("FailedScheduling").empty(); }));
  EXPECT_THAT(claims(), IsEmpty());
  apply_class();
  EXPECT_TRUE(wait_running("web", 1));
  EXPECT_EQ(condition(model::kNodePoolResource, "default", "Ready"), "True");
}

TEST_F(Launch, LimitsAreKeptAndRaised) {
  start();
  apply_class();
  apply_pool({.extra = "  limits: {cpu: \"4\"}"});
  deploy({.replicas = 6});
  ASSERT_TRUE(wait([&] { return running("web") >= 2; }));
  run_for(minutes(5));
  double capacity = 0;
  for (const auto& node : nodes()) {
    capacity += std::stod(node->meta.labels.at("karpenter.kwok.sh/instance-cpu"));
  }
  EXPECT_LE(capacity, 4);
  EXPECT_LT(running("web"), 6U);
  change(model::kNodePoolResource, "default",
         [](boost::json::value& pool) { pool.at("spec").at("limits").as_object()["cpu"] = "100"; });
  EXPECT_TRUE(wait_running("web", 6));
}

TEST_F(Launch, StartupTaintsDelayInitializationUntilSomebodyTakesThemOff) {
  start();
  apply_class();
  apply_pool({.template_extra = "      startupTaints:\n"
                                "      - {key: example.com/agent, effect: NoSchedule}"});
  deploy({});
  ASSERT_TRUE(wait([&] {
    return !nodes().empty() && !claims().empty() &&
           condition(model::kNodeClaimResource, claims().front()->meta.name, "Registered") ==
               "True";
  }));
  run_for(minutes(2));
  EXPECT_NE(condition(model::kNodeClaimResource, claims().front()->meta.name, "Initialized"),
            "True");
  EXPECT_EQ(running("web"), 0U);
  EXPECT_THAT(claims(), SizeIs(1)) << "another node was bought for the same pod";
  change(model::kNodeResource, nodes().front()->meta.name,
         [](boost::json::value& node) { node.at("spec").as_object().erase("taints"); });
  EXPECT_TRUE(wait_running("web", 1));
  EXPECT_EQ(condition(model::kNodeClaimResource, claims().front()->meta.name, "Initialized"),
            "True");
}

// A kubelet may write on its Node, so nothing there may look as if it counted.
TEST_F(Launch, WhatIsReservedIsSaidOnTheClaimAlone) {
  start();
  apply_class();
  apply_pool({.template_metadata = "{annotations: {team: payments}}"});
  deploy({});
  ASSERT_TRUE(wait_running("web", 1));
  const std::string key(model::kReservationsAnnotation);
  EXPECT_THAT(claims().front()->meta.annotations, Contains(testing::Key(key)));
  const auto annotations = nodes().front()->meta.annotations;
  EXPECT_THAT(annotations, Not(Contains(testing::Key(key))));
  EXPECT_EQ(annotations.at("team"), "payments");
}

// The claim's status may be written later than its Node, and somebody may have been faster.
TEST_F(Launch, AStartupTaintThatSomebodyTookOffStaysOff) {
  start();
  apply_class();
  apply_pool(
      {.template_extra = "      startupTaints: [{key: example.com/agent, effect: NoSchedule}]"});
  deploy({});
  const auto is_registered = [&] {
    return !claims().empty() && condition(model::kNodeClaimResource, claims().front()->meta.name,
                                          "Registered") == "True";
  };
  ASSERT_TRUE(wait(is_registered));
  change(model::kNodeResource, nodes().front()->meta.name,
         [](boost::json::value& node) { node.at("spec").as_object().erase("taints"); });
  change(
      model::kNodeClaimResource, claims().front()->meta.name,
      [](boost::json::value& claim) {
        for (auto& each : claim.at("status").at("conditions").as_array()) {
          if (each.at("type").as_string() == "Registered") {
            each.as_object()["status"] = "Unknown";
          }
        }
      },
      {}, "status");
  ASSERT_FALSE(is_registered());
  ASSERT_TRUE(wait(is_registered));
  EXPECT_THAT(nodes().front()->taints, IsEmpty());
  EXPECT_TRUE(wait_running("web", 1));
}

// As controllers of some clouds do, which keep nodes as they were made.
TEST_F(Launch, TheTaintOfUnregisteredNodesDoesNotComeBack) {
  start();
  apply_class();
  apply_pool();
  deploy({});
  ASSERT_TRUE(wait_running("web", 1));
  const auto node = nodes().front()->meta.name;
  const auto has_taint = [&](std::string_view key) {
    const auto& taints = nodes().front()->taints;
    return std::any_of(taints.begin(), taints.end(),
                       [&](const auto& taint) { return taint.key == key; });
  };
  bool came_back = false;
  recorder().on_change([&] { came_back = came_back || has_taint("karpenter.sh/unregistered"); });
  change(model::kNodeResource, node, [](boost::json::value& object) {
    object.at("spec").as_object()["taints"] = boost::json::array{
        {{"key", "karpenter.sh/unregistered"}, {"effect", "NoExecute"}},
        {{"key", "example.com/mine"}, {"value", "yes"}, {"effect", "NoSchedule"}}};
  });
  EXPECT_TRUE(
      wait([&] { return came_back && !has_taint("karpenter.sh/unregistered"); }, seconds(5)));
  EXPECT_TRUE(has_taint("example.com/mine"));
}

// Policies that admit Nodes by their labels see those of the NodeClaim.
TEST_F(Launch, AKubeletRegistersItsNodeWithTheClaimsLabelsAndTaints) {
  start();
  apply_class();
  apply_pool({.template_metadata = "{labels: {team: payments}}",
              .template_extra = "      taints: [{key: example.com/team, effect: NoSchedule}]"});
  deploy({.pod_spec = "      tolerations: [{operator: Exists}]\n"});
  ASSERT_TRUE(wait([&] { return !nodes().empty(); }));
  const auto& node = *nodes().front();
  EXPECT_THAT(node.meta.labels, Not(Contains(testing::Key("karpenter.sh/registered"))));
  EXPECT_EQ(node.meta.labels.at("team"), "payments");
  EXPECT_EQ(node.meta.labels.at("karpenter.sh/nodepool"), "default");
  std::vector<std::string> keys;
  for (const auto& taint : node.taints) {
    keys.push_back(taint.key);
  }
  EXPECT_THAT(keys, testing::IsSupersetOf({"karpenter.sh/unregistered", "example.com/team"}));
}

// Boot scripts of some images register the claim's taints with the Node, where somebody may have
// taken one off before the Node is noticed.
TEST_F(Launch, ANodeThatSaysSoKeepsTheTaintsItCameWith) {
  cloud::SimulatedSettings settings;
  settings.boot = {hours(5), hours(5), hours(5)};  // its kubelet is played here
  start(with(settings));
  apply_class();
  apply_pool({.template_extra =
                  "      taints: [{key: example.com/team, effect: PreferNoSchedule}]\n"
                  "      startupTaints:\n"
                  "      - {key: example.com/agent, effect: NoSchedule}"});
  deploy({});
  ASSERT_TRUE(wait_instances(1));
  apply(
      "apiVersion: v1\nkind: Node\nmetadata:\n  name: by-hand\n  labels: "
      "{karpenter.sh/do-not-sync-taints: \"true\"}\nspec:\n  providerID: " +
      instances().front().provider_id +
      "\n  taints:\n  - {key: karpenter.sh/unregistered, effect: NoExecute}\n"
      "  - {key: example.com/own, effect: NoSchedule}\n");
  ASSERT_TRUE(wait([&] {
    return condition(model::kNodeClaimResource, claims().front()->meta.name, "Registered") ==
           "True";
  }));
  ASSERT_THAT(nodes(), SizeIs(1));
  std::vector<std::string> keys;
  for (const auto& taint : nodes().front()->taints) {
    keys.push_back(taint.key);
  }
  EXPECT_THAT(keys, Contains("example.com/own"));
  EXPECT_THAT(keys, Not(Contains("example.com/agent")));
  EXPECT_THAT(keys, Not(Contains("example.com/team")));
}

TEST_F(Launch, AClaimOfItsOwnGetsANodeThatNobodyDisrupts) {
  start();
  apply_class();
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
  run_for(hours(2));
  EXPECT_THAT(nodes(), SizeIs(1));
  remove(model::kNodeClaimResource, "alone");
  EXPECT_TRUE(wait_empty()) << inventory();
}

// A pod that loses the room kept for it to one that no scheduler placed, on a cluster where nothing
// else happens.
TEST_F(Launch, RoomThatOthersTookMakesANewPlan) {
  start();
  apply_class();
  apply_pool();
  const auto pod = [](const std::string& name, const std::string& node) {
    return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
           ", namespace: default, labels: {app: " + name + "}}\nspec:\n" +
           (node.empty() ? std::string() : "  nodeName: " + node + "\n") +
           "  containers: [{name: work, image: work, resources: {requests: {cpu: \"3\"}}}]\n";
  };
  apply(pod("planned", ""));
  ASSERT_TRUE(wait([&] { return !nodes().empty(); }, minutes(2)));
  apply(pod("squatter", nodes().front()->meta.name));
  EXPECT_TRUE(wait_running("planned", 1, minutes(3)));
  EXPECT_THAT(nodes(), SizeIs(2));
}

}  // namespace
}  // namespace millwright::test
