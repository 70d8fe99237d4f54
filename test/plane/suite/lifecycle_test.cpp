// What people do to nodes with kubectl, and how nodes end: the real API server's deletions,
// finalizers, garbage collection and Eviction API.

#include "plane/suite/fixture.hpp"

#include <algorithm>
#include <set>

namespace millwright::plane {
namespace {

using testing::HasSubstr;

class Lifecycle : public OnCluster<struct LifecycleTag> {
 protected:
  // A pool and a deployment that runs on it.
  static void begin(const std::string& pool, DeploymentSpec spec,
                    const std::string& consolidate_after = "Never", const std::string& extra = {}) {
    const auto count = static_cast<std::size_t>(spec.replicas);
    spec.pool = pool;
    cluster().apply(node_pool(pool, consolidate_after, extra));
    cluster().apply(deployment(spec));
    cluster().wait_running(spec.name, count);
  }
  static std::string first_name(const std::vector<json::value>& objects) {
    return objects.empty() ? "" : text_at(objects.front(), "/metadata/name");
  }
  static bool present(std::string_view path, const std::string& name) {
    return cluster().plane().call("GET", std::string(path) + "/" + name).status == 200;
  }
  static bool tainted(const std::string& node) {
    const auto answer = cluster().plane().call("GET", std::string(kNodes) + "/" + node);
    return json::serialize(answer.body).find("karpenter.sh/disrupted") != std::string::npos;
  }
  static double vcpus(const std::string& pool) {
    double sum = 0;
    for (const auto& node : cluster().nodes(pool)) {
      sum += std::strtod(text_at(node, "/status/capacity/cpu").c_str(), nullptr);
    }
    return sum;
  }
};

TEST_F(Lifecycle, ASmallerNodeReplacesAHalfEmptyOne) {
  begin("shrink", {.name = "shrink", .replicas = 6, .cpu = "2"}, "0s");
  const double before = vcpus("shrink");
  cluster().kubectl({"scale", "deployment", "shrink", "--replicas=1"});
  cluster().wait("the pod runs on fewer vCPUs and no node is leaving", seconds(120), [&] {
    return cluster().running("shrink") == 1 && cluster().nodes("shrink").size() == 1 &&
           vcpus("shrink") < before && vcpus("shrink") <= 4;
  });
  cluster().clean_up("shrink", "shrink");
}

TEST_F(Lifecycle, DeletingANodeClaimDrainsItsNodeAndThePodsGetAnother) {
  begin("claim", {.name = "claim", .replicas = 3});
  const std::string claim = first_name(cluster().claims("claim"));
  const std::string node = first_name(cluster().nodes("claim"));
  EXPECT_THAT(cluster().kubectl({"delete", "nodeclaim", claim, "--timeout=90s"}),
              HasSubstr("nodeclaim.karpenter.sh \"" + claim + "\" deleted"));
  EXPECT_FALSE(present(kNodes, node));
  cluster().wait_running("claim", 3);
  EXPECT_NE(first_name(cluster().nodes("claim")), node);
  cluster().clean_up("claim", "claim");
}

TEST_F(Lifecycle, DeletingANodeDrainsItAndEndsItsInstance) {
  begin("node", {.name = "node", .replicas = 3});
  const std::string claim = first_name(cluster().claims("node"));
  const std::string node = first_name(cluster().nodes("node"));
  EXPECT_THAT(cluster().kubectl({"delete", "node", node, "--timeout=90s"}),
              HasSubstr("node \"" + node + "\" deleted"));
  cluster().wait("its NodeClaim is gone", seconds(60), [&] { return !present(kClaims, claim); });
  cluster().wait_running("node", 3);
  cluster().clean_up("node", "node");
}

TEST_F(Lifecycle, DeletingANodePoolEndsItsNodes) {
  begin("pool", {.name = "pool", .replicas = 2});
  cluster().kubectl({"delete", "nodepool", "pool", "--timeout=90s"});
  cluster().wait_no_nodes("pool");
  cluster().wait("its pods wait", seconds(30), [&] {
    return cluster().running("pool") == 0 && cluster().pods("pool").size() == 2;
  });
  cluster().clean_up("pool", "pool");
}

TEST_F(Lifecycle, ANodeClaimOfItsOwnGetsANodeThatNobodyDisrupts) {
  cluster().apply(R"(apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: alone}
spec:
  nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
  requirements:
  - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
  - {key: kubernetes.io/arch, operator: In, values: [arm64]}
  - {key: kubernetes.io/os, operator: In, values: [linux]}
  resources: {requests: {cpu: "3", memory: 1Gi}}
)");
  cluster().kubectl({"wait", "--for=condition=Initialized", "nodeclaim/alone", "--timeout=60s"});
  const auto claim = cluster().plane().call("GET", std::string(kClaims) + "/alone").body;
  const std::string node = text_at(claim, "/status/nodeName");
  const auto object = cluster().plane().call("GET", std::string(kNodes) + "/" + node).body;
  EXPECT_EQ(text_at(object, "/metadata/labels/kubernetes.io~1arch"), "arm64");
  EXPECT_EQ(text_at(object, "/metadata/labels/karpenter.sh~1registered"), "true");
  EXPECT_EQ(text_at(object, "/metadata/labels/karpenter.sh~1initialized"), "true");
  EXPECT_FALSE(tainted(node));
  cluster().kubectl({"delete", "nodeclaim", "alone", "--timeout=90s"});
  EXPECT_FALSE(present(kNodes, node));
}

TEST_F(Lifecycle, ABudgetThatAllowsNothingHoldsADrainUpUntilItIsLifted) {
  begin("guarded", {.name = "guarded", .replicas = 2});
  cluster().apply(
      "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: guarded}\n"
      "spec: {maxUnavailable: 0, selector: {matchLabels: {app: guarded}}}\n");
  const std::string claim = first_name(cluster().claims("guarded"));
  const std::string node = first_name(cluster().nodes("guarded"));
  cluster().kubectl({"delete", "nodeclaim", claim, "--wait=false"});
  cluster().wait("the drain is refused and says so", seconds(60), [&] {
    const auto events = cluster().plane().kubectl({"get", "events", "-o", "wide"}).text;
    return tainted(node) &&
           events.find("The disruption budget guarded needs 2 healthy pods") != std::string::npos;
  });
  EXPECT_EQ(cluster().running("guarded"), 2U);
  EXPECT_TRUE(present(kNodes, node));
  cluster().kubectl({"delete", "pdb", "guarded"});
  cluster().wait("the old node is gone", seconds(90), [&] { return !present(kNodes, node); });
  cluster().wait_running("guarded", 2);
  cluster().clean_up("guarded", "guarded");
}

TEST_F(Lifecycle, TheGracePeriodEndsADrainThatABudgetHoldsUp) {
  begin("limited", {.name = "limited", .replicas = 2}, "Never",
        "      terminationGracePeriod: 10s\n");
  cluster().apply(
      "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: limited}\n"
      "spec: {maxUnavailable: 0, selector: {matchLabels: {app: limited}}}\n");
  const std::string node = first_name(cluster().nodes("limited"));
  cluster().kubectl({"delete", "node", node, "--timeout=90s"});
  cluster().kubectl({"delete", "pdb", "limited"});
  cluster().wait_running("limited", 2);
  cluster().clean_up("limited", "limited");
}

TEST_F(Lifecycle, APodThatMustNotBeDisruptedKeepsItsNode) {
  begin(
      "kept",
      {.name = "kept", .replicas = 1, .pod_annotations = "{karpenter.sh/do-not-disrupt: \"true\"}"},
      "0s");
  const std::string node = first_name(cluster().nodes("kept"));
  // A second, larger burst leaves room elsewhere, where the pod would be cheaper off.
  cluster().apply(deployment({.name = "passing", .replicas = 4, .cpu = "2", .pool = "kept"}));
  cluster().wait_running("passing", 4);
  cluster().kubectl({"delete", "deployment", "passing"});
  cluster().wait("only the node of the protected pod is left", seconds(120),
                 [&] { return cluster().nodes("kept").size() == 1; });
  EXPECT_EQ(first_name(cluster().nodes("kept")), node);
  EXPECT_EQ(cluster().running("kept"), 1U);
  EXPECT_FALSE(tainted(node));
  cluster().clean_up("kept", "kept");
}

TEST_F(Lifecycle, KubectlDrainMovesPodsAndTheEmptyNodeGoes) {
  begin("drained", {.name = "drained", .replicas = 3}, "0s");
  const std::string node = first_name(cluster().nodes("drained"));
  EXPECT_THAT(cluster().kubectl({"drain", node, "--ignore-daemonsets", "--timeout=90s"}),
              HasSubstr("drained"));
  cluster().wait_running("drained", 3);
  cluster().wait("the drained node is gone", seconds(120), [&] { return !present(kNodes, node); });
  cluster().clean_up("drained", "drained");
}

TEST_F(Lifecycle, ANodeThatIsOldEnoughIsReplaced) {
  begin("aging", {.name = "aging", .replicas = 1}, "Never", "      expireAfter: 30s\n");
  const std::string node = first_name(cluster().nodes("aging"));
  cluster().wait("the expired node is gone", seconds(120), [&] { return !present(kNodes, node); });
  cluster().wait("its pod runs elsewhere", seconds(60),
                 [&] { return cluster().running("aging") == 1; });
  cluster().clean_up("aging", "aging");
}

TEST_F(Lifecycle, StartupTaintsKeepPodsAwayUntilSomebodyTakesThemOff) {
  cluster().apply(
      node_pool("starting", "Never",
                "      startupTaints: [{key: example.com/agent, effect: NoSchedule}]\n"));
  cluster().apply(deployment({.name = "starting", .replicas = 2, .pool = "starting"}));
  cluster().wait("a node is registered", seconds(60), [&] {
    const auto nodes = cluster().nodes("starting");
    return !nodes.empty() &&
           text_at(nodes.front(), "/metadata/labels/karpenter.sh~1registered") == "true";
  });
  const std::string node = first_name(cluster().nodes("starting"));
  EXPECT_EQ(cluster().running("starting"), 0U);
  cluster().kubectl({"taint", "node", node, "example.com/agent:NoSchedule-"});
  cluster().wait_running("starting", 2);
  EXPECT_EQ(cluster().nodes("starting").size(), 1U);
  cluster().kubectl({"wait", "--for=condition=Initialized", "nodeclaim", "--all", "--timeout=60s"});
  cluster().clean_up("starting", "starting");
}

}  // namespace
}  // namespace millwright::plane
