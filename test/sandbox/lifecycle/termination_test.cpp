// How nodes go: who waits for whom, and what ends when objects or machines vanish.

#include "sandbox/lifecycle/lifecycle_fixture.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace millwright::test {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class Termination : public LifecycleFixture {
 protected:
  void up(const PoolText& pool = {}, const WorkloadText& workload = {}) {
    start();
    apply_class();
    apply_pool(pool);
    deploy(workload);
    ASSERT_TRUE(wait_running(workload.name, static_cast<std::size_t>(workload.replicas)));
  }

  void protect(const std::string& app, int min_available) {
    apply(
        "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: keep, namespace: "
        "default}\nspec: {minAvailable: " +
        std::to_string(min_available) + ", selector: {matchLabels: {app: " + app + "}}}\n");
    run_for(seconds(5));
  }

  // After protect(): the budget holds the drain up, and until it is lifted the instance stays.
  void tear_away_and_expect_drain() {
    const auto node = nodes().front()->meta.name;
    const auto instance = instances().front().provider_id;
    tear_away(claims().front()->meta.name);
    run_for(minutes(30));
    EXPECT_TRUE(node_exists(node));
    EXPECT_EQ(running("web"), 1U);
    EXPECT_THAT(instances(), Contains(testing::Field(&cloud::Instance::provider_id, instance)));
    EXPECT_THAT(events("FailedDraining"), Not(IsEmpty()));
    remove(model::kPodDisruptionBudgetResource, "keep", "default");
    EXPECT_TRUE(wait([&] { return !node_exists(node); }));
    EXPECT_TRUE(wait_running("web", 1));
    EXPECT_TRUE(wait_instances(1)) << inventory();
  }

  // The machine vanishes, and its Node goes by then; the pods get another.
  void expect_forgotten_within(base::Duration limit) {
    const auto node = nodes().front()->meta.name;
    ASSERT_TRUE(cloud().lose(instances().front().provider_id));
    ASSERT_TRUE(wait([&] { return !node_exists(node); }, limit));
    ASSERT_TRUE(wait([&] { return nodes().size() == 1; }, hours(1)));
    ASSERT_TRUE(wait_running("web", 2, hours(1)));
    EXPECT_THAT(claims(), SizeIs(1));
    EXPECT_THAT(instances(), SizeIs(1));
  }

  void tear_away(const std::string& claim) {
    change(model::kNodeClaimResource, claim, [](boost::json::value& object) {
      object.at("metadata").as_object().erase("finalizers");
    });
    remove(model::kNodeClaimResource, claim);
  }

  bool node_exists(const std::string& name) {
    const auto all = nodes();
    return std::any_of(all.begin(), all.end(),
                       [&](const auto& node) { return node->meta.name == name; });
  }
};

TEST_F(Termination, DeletingANodeDrainsItAndEndsItsInstance) {
  up();
  const auto node = nodes().front()->meta.name;
  const auto instance = instances().front().provider_id;
  remove(model::kNodeResource, node);
  ASSERT_TRUE(wait([&] { return !node_exists(node); }));
  ASSERT_TRUE(wait_running("web", 1));
  ASSERT_THAT(instances(), SizeIs(1));
  EXPECT_NE(instances().front().provider_id, instance);
  EXPECT_EQ(claims().size(), nodes().size());
}

TEST_F(Termination, DeletingANodePoolEndsItsNodes) {
  up({}, {.replicas = 2});
  remove(model::kNodePoolResource, "default");
  EXPECT_TRUE(wait_empty()) << inventory();
  EXPECT_EQ(running("web"), 0U);
}

TEST_F(Termination, TheSeriesOfADeletedNodePoolGoAfterIt) {
  up();
  const auto has_series = [this](const std::string& text) {
    return metrics().find(text) != std::string::npos;
  };
  remove(model::kNodePoolResource, "default");
  ASSERT_TRUE(wait_empty()) << inventory();
  for (const char* text :
       {"karpenter_nodeclaims_created_total{", "karpenter_sh_nodepool=\"default\""}) {
    EXPECT_TRUE(has_series(text)) << text << ": somebody may still want to read them";
  }
  run_for(minutes(61));
  EXPECT_FALSE(has_series("karpenter_nodeclaims_created_total{"));
  EXPECT_FALSE(has_series("karpenter_sh_nodepool=\"default\""));
}

TEST_F(Termination, TheSeriesOfADeletedNodePoolGoAfterItsLastNode) {
  up();
  protect("web", 1);
  const auto has_series = [this] {
    return metrics().find("karpenter_nodeclaims_created_total{") != std::string::npos;
  };
  remove(model::kNodePoolResource, "default");
  run_for(minutes(90));
  ASSERT_FALSE(claims().empty());
  EXPECT_TRUE(has_series());
  remove(model::kPodDisruptionBudgetResource, "keep", "default");
  ASSERT_TRUE(wait_empty()) << inventory();
  run_for(minutes(61));
  EXPECT_FALSE(has_series());
}

TEST_F(Termination, TheSeriesOfADeletedNodeClassGoAfterIt) {
  up();
  apply_class("other");
  change(model::kNodePoolResource, "default", [](boost::json::value& json) {
    json.at_pointer("/spec/template/spec/nodeClassRef/name") = "other";
  });
  const auto all_are_of_the_other = [this] {
    const auto is_of_it = [](const auto& claim) { return claim->node_class_ref.name == "other"; };
    const auto now = claims();
    return !now.empty() && std::all_of(now.begin(), now.end(), is_of_it);
  };
  ASSERT_TRUE(wait(all_are_of_the_other, hours(1))) << inventory();
  const auto has_series = [this] {
    return metrics().find("karpenter_kwok_sh_kwoknodeclass=\"default\"") != std::string::npos;
  };
  remove(model::kKwokNodeClassResource, "default");
  run_for(minutes(5));
  EXPECT_TRUE(has_series()) << "somebody may still want to read them";
  run_for(minutes(61));
  EXPECT_FALSE(has_series());
}

TEST_F(Termination, ABudgetThatAllowsNothingHoldsTheDrainUpUntilItIsLifted) {
  up();
  protect("web", 1);
  const auto claim = claims().front()->meta.name;
  const auto node = nodes().front()->meta.name;
  remove(model::kNodeClaimResource, claim);
  run_for(minutes(30));
  EXPECT_TRUE(node_exists(node));
  EXPECT_EQ(running("web"), 1U);
  EXPECT_EQ(condition(model::kNodeClaimResource, claim, "Drained"), "Unknown");
  EXPECT_THAT(events("FailedDraining"), Not(IsEmpty()));
  remove(model::kPodDisruptionBudgetResource, "keep", "default");
  EXPECT_TRUE(wait([&] { return !node_exists(node); }));
  EXPECT_TRUE(wait_running("web", 1));
}

// The budget lets the second pod go when the first one runs elsewhere. There is no elsewhere while
// the node counts in its NodePool's limits.
TEST_F(Termination, ANodeOfAPoolAtItsLimitGoesThoughABudgetAsksForSuccessorsFirst) {
  up({.extra = "  limits: {nodes: \"1\"}"}, {.replicas = 2});
  ASSERT_THAT(nodes(), SizeIs(1));
  const auto node = nodes().front()->meta.name;
  protect("web", 1);
  remove(model::kNodeClaimResource, claims().front()->meta.name);
  EXPECT_TRUE(wait([&] { return !node_exists(node); }, minutes(30))) << inventory();
  EXPECT_TRUE(wait_running("web", 2));
  EXPECT_TRUE(wait([&] { return claims().size() == 1; })) << inventory();
}

TEST_F(Termination, TheGracePeriodOverrulesABudget) {
  up({.template_extra = "      terminationGracePeriod: 10m"});
  protect("web", 1);
  const auto node = nodes().front()->meta.name;
  const auto begin = now();
  remove(model::kNodeClaimResource, claims().front()->meta.name);
  ASSERT_TRUE(wait([&] { return !node_exists(node); }, hours(1)));
  EXPECT_GE(now() - begin, minutes(9));
  EXPECT_LE(now() - begin, minutes(11));
  EXPECT_TRUE(wait_running("web", 1));
}

TEST_F(Termination, APodThatMustNotBeDisruptedHoldsUpTheDrain) {
  up({}, {.pod_metadata = "      annotations: {karpenter.sh/do-not-disrupt: \"true\"}"});
  const auto node = nodes().front()->meta.name;
  remove(model::kNodeClaimResource, claims().front()->meta.name);
  run_for(minutes(20));
  EXPECT_TRUE(node_exists(node));
  EXPECT_EQ(running("web"), 1U);
  scale("web", 0);
  EXPECT_TRUE(wait_empty()) << inventory();
}

TEST_F(Termination, CriticalPodsAndDaemonsGoAfterTheOthers) {
  start();
  apply_class();
  apply_pool();
  apply(R"(
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: system-cluster-critical}
value: 2000000000
)");
  deploy({.name = "plain"});
  deploy({.name = "critical", .pod_spec = "      priorityClassName: system-cluster-critical"});
  ASSERT_TRUE(wait_running("plain", 1));
  ASSERT_TRUE(wait_running("critical", 1));
  ASSERT_THAT(nodes(), SizeIs(1));
  const auto node = nodes().front()->meta.name;
  remove(model::kNodeClaimResource, claims().front()->meta.name);
  ASSERT_TRUE(wait([&] { return !node_exists(node); }));
  std::map<std::string, const sandbox::PodRecord*> evicted;
  for (const auto& [uid, pod] : recorder().pods()) {
    if (pod.last->spec.node_name == node) {
      evicted[pod.last->meta.labels.at("app")] = &pod;
    }
  }
  ASSERT_THAT(evicted, SizeIs(2));
  ASSERT_TRUE(evicted["plain"]->gone && evicted["critical"]->deleting);
  EXPECT_GE(*evicted["critical"]->deleting, *evicted["plain"]->gone);
}

TEST_F(Termination, AMachineThatVanishesIsForgottenAndItsPodsGetAnother) {
  up({}, {.replicas = 2});
  run_for(minutes(5));
  expect_forgotten_within(minutes(2));
}

// Its cloud might only not show it yet.
TEST_F(Termination, ANewMachineThatVanishesIsForgottenOnceItsPodsAreStuck) {
  up({}, {.replicas = 2});
  expect_forgotten_within(minutes(4));
}

TEST_F(Termination, ANewMachineThatTheCloudDoesNotShowYetIsDrained) {
  up();
  protect("web", 1);
  const auto node = nodes().front()->meta.name;
  hide(instances().front().provider_id);
  change(
      model::kNodeResource, node,
      [](boost::json::value& object) {
        const boost::json::object not_ready{
            {"type", "Ready"}, {"status", "False"}, {"reason", "PLEGIsNotHealthy"}};
        object.at("status").as_object()["conditions"] = boost::json::array{not_ready};
      },
      {}, "status");
  remove(model::kNodeResource, node);
  run_for(minutes(2));
  EXPECT_TRUE(node_exists(node));
  EXPECT_EQ(running("web"), 1U);
  remove(model::kPodDisruptionBudgetResource, "keep", "default");
  EXPECT_TRUE(wait([&] { return !node_exists(node); }, minutes(1)));
  EXPECT_TRUE(wait_running("web", 1));
}

TEST_F(Termination, AnInstanceWhoseClaimIsTornAwayIsCollected) {
  up();
  scale("web", 0);
  tear_away(claims().front()->meta.name);
  EXPECT_TRUE(wait_instances(0, hours(1)));
  EXPECT_TRUE(wait_empty()) << inventory();
}

// Its kubelet made the Node anew, so that it was never registered.
TEST_F(Termination, ANodeThatMayNotBeDeletedKeepsNoInstanceIfNothingDrainsIt) {
  up();
  scale("web", 0);
  ASSERT_TRUE(wait([&] { return pods("web").empty(); }));
  change(model::kNodeResource, nodes().front()->meta.name, [](boost::json::value& object) {
    auto& metadata = object.at("metadata").as_object();
    metadata.erase("finalizers");
    metadata.at("labels").as_object().erase("karpenter.sh/registered");
  });
  sandbox::Faults faults;
  faults.forbidden.insert("nodes");
  api().set_faults(faults);
  remove(model::kNodeClaimResource, claims().front()->meta.name);
  EXPECT_TRUE(wait_instances(0)) << inventory();
  EXPECT_TRUE(wait([&] { return claims().empty(); })) << inventory();
}

TEST_F(Termination, ANodeWhoseClaimIsTornAwayIsDrained) {
  up();
  protect("web", 1);
  tear_away_and_expect_drain();
}

// As where Kubernetes' own garbage collection is late, or the Node's owner was edited away.
TEST_F(Termination, ANodeWhoseClaimIsTornAwayIsDrainedThoughKubernetesDoesNotDeleteIt) {
  up();
  protect("web", 1);
  change(model::kNodeResource, nodes().front()->meta.name, [](boost::json::value& object) {
    object.at("metadata").as_object().erase("ownerReferences");
  });
  tear_away_and_expect_drain();
}

// A pod can be put on a node past every scheduler, whatever taints it has.
TEST_F(Termination, APodThatComesAfterTheDrainIsEvictedToo) {
  up();
  const auto node = nodes().front()->meta.name;
  const auto claim = claims().front()->meta.name;
  apply(
      "apiVersion: storage.k8s.io/v1\nkind: VolumeAttachment\nmetadata: {name: disk}\nspec: "
      "{attacher: disk.example.com, source: {persistentVolumeName: disk}, nodeName: " +
      node + "}\n");
  remove(model::kNodeClaimResource, claim);
  ASSERT_TRUE(
      wait([&] { return condition(model::kNodeClaimResource, claim, "Drained") == "True"; }));
  apply(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: late, namespace: default, labels: {app: "
      "late}}\nspec: {containers: [{name: main, image: main}], nodeName: " +
      node + "}\n");
  ASSERT_TRUE(wait([&] { return !pods("late").empty(); }));
  EXPECT_TRUE(wait([&] { return pods("late").empty(); }, minutes(2)));
  EXPECT_TRUE(node_exists(node)) << "its volume is still attached";
  remove(model::kVolumeAttachmentResource, "disk");
  EXPECT_TRUE(wait([&] { return !node_exists(node); }));
}

// As a DaemonSet's that tolerates everything: it goes with its node, and its volume with it.
TEST_F(Termination, TheEphemeralVolumeOfAPodThatStaysHoldsNothingUp) {
  up();
  const auto node = nodes().front()->meta.name;
  apply(R"(
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: agent-scratch, namespace: default}
spec: {volumeName: disk, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: Pod
metadata: {name: agent, namespace: default, labels: {app: agent}}
spec:
  tolerations: [{operator: Exists}]
  containers: [{name: main, image: main}]
  volumes:
  - name: scratch
    ephemeral:
      volumeClaimTemplate:
        spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
  nodeName: )" +
        node + R"(
---
apiVersion: storage.k8s.io/v1
kind: VolumeAttachment
metadata: {name: disk}
spec: {attacher: disk.example.com, source: {persistentVolumeName: disk}, nodeName: )" +
        node + "}\n");
  ASSERT_TRUE(wait_running("agent", 1));
  remove(model::kNodeClaimResource, claims().front()->meta.name);
  EXPECT_TRUE(wait([&] { return !node_exists(node); }));
  EXPECT_THAT(events("AwaitingVolumeDetachment"), IsEmpty());
}

TEST_F(Termination, AClaimThatRegistersWhileInstancesAreListedIsKept) {
  cloud::SimulatedSettings settings;
  settings.call = {seconds(40), seconds(40), seconds(40)};
  app::EmbeddedOptions options;
  options.settings[cloud::Profile::Kwok] = settings;
  options.world.kubelet.ready_after = minutes(1);
  const auto period = options.controllers.garbage_collection_period;
  start(std::move(options));
  apply_class();
  apply_pool();
  run_for(period + seconds(1));
  deploy({});
  ASSERT_TRUE(wait_running("web", 1));
  EXPECT_THAT(recorder().claims(), SizeIs(1));
}

TEST_F(Termination, AClassThatIsDeletedTakesNothingFromItsNodesNorFromTheirEnd) {
  up();
  remove(model::kKwokNodeClassResource, "default");
  run_for(minutes(30));
  EXPECT_EQ(running("web"), 1U);
  EXPECT_EQ(condition(model::kNodePoolResource, "default", "Ready"), "False");
  remove(model::kNodePoolResource, "default");
  EXPECT_TRUE(wait_empty()) << inventory();
}

}  // namespace
}  // namespace millwright::test
