#include "kubectl/sandbox/kubectl_fixture.hpp"

namespace millwright::sandbox {
namespace {

using testing::HasSubstr;
using testing::Not;

class Kubectl : public KubectlFixture {
 protected:
  // Applies a deployment and waits until it runs.
  static void run_deployment(const std::string& name, int replicas) {
    const auto applied = kubectl("apply -f -", deployment_yaml(name, replicas));
    ASSERT_EQ(applied.exit_code, 0) << applied.output;
    const auto rolled = kubectl("rollout status deployment/" + name + " --timeout=60s");
    ASSERT_EQ(rolled.exit_code, 0) << rolled.output;
  }
};

TEST_F(Kubectl, KnowsTheServerAndItsKinds) {
  EXPECT_THAT(kubectl("version").output, HasSubstr("v1.32.4"));
  const auto kinds = kubectl("api-resources");
  EXPECT_EQ(kinds.exit_code, 0);
  EXPECT_THAT(kinds.output, HasSubstr("deploy"));
  EXPECT_THAT(kinds.output, HasSubstr("karpenter.sh/v1"));
}

TEST_F(Kubectl, AppliesCreatesConfiguresAndLeavesUnchanged) {
  launch_node("apply-1");
  EXPECT_EQ(kubectl("apply -f -", deployment_yaml("web", 1)).output,
            "deployment.apps/web created\n");
  EXPECT_EQ(kubectl("apply -f -", deployment_yaml("web", 1)).output,
            "deployment.apps/web unchanged\n");
  EXPECT_EQ(kubectl("apply -f -", deployment_yaml("web", 2)).output,
            "deployment.apps/web configured\n");
  EXPECT_EQ(kubectl("apply --dry-run=server -f -", deployment_yaml("web", 3)).output,
            "deployment.apps/web configured (server dry run)\n");
  EXPECT_EQ(kubectl("get deployment web -o jsonpath={.spec.replicas}").output, "2");
  EXPECT_THAT(kubectl("diff -f -", deployment_yaml("web", 5)).output, HasSubstr("+  replicas: 5"));
  const auto server_side =
      kubectl("apply --server-side --force-conflicts -f -", deployment_yaml("web", 4));
  EXPECT_EQ(server_side.output, "deployment.apps/web serverside-applied\n");
  EXPECT_EQ(kubectl("get deployment web -o jsonpath={.spec.replicas}").output, "4");
  EXPECT_EQ(kubectl("delete deployment web").output, "deployment.apps \"web\" deleted\n");
}

TEST_F(Kubectl, ScalesRollsOutAndRestarts) {
  launch_node("scale-1");
  run_deployment("scaled", 1);
  EXPECT_EQ(kubectl("scale deployment scaled --replicas=3").output,
            "deployment.apps/scaled scaled\n");
  EXPECT_EQ(kubectl("rollout status deployment/scaled --timeout=60s").exit_code, 0);
  const auto table = kubectl("get deployment scaled");
  EXPECT_EQ(table.cell(1, "READY"), "3/3");
  EXPECT_EQ(kubectl("rollout restart deployment/scaled").exit_code, 0);
  EXPECT_EQ(kubectl("rollout status deployment/scaled --timeout=60s").exit_code, 0);
  EXPECT_THAT(kubectl("rollout history deployment/scaled").output, HasSubstr("2"));
  EXPECT_EQ(kubectl("wait --for=condition=Available deployment/scaled --timeout=60s").exit_code, 0);
  EXPECT_EQ(kubectl("delete deployment scaled --cascade=foreground --timeout=60s").exit_code, 0);
  EXPECT_THAT(kubectl("get pods -l app=scaled").output, HasSubstr("No resources found"));
}

TEST_F(Kubectl, GetsTablesNamesAndYaml) {
  launch_node("get-1");
  run_deployment("shown", 1);
  const auto wide = kubectl("get pods -l app=shown -o wide");
  EXPECT_EQ(wide.cell(1, "READY"), "1/1");
  EXPECT_EQ(wide.cell(1, "STATUS"), "Running");
  EXPECT_NE(wide.cell(1, "NODE"), "<none>");
  EXPECT_THAT(kubectl("get pods -l app=shown -o name").output, testing::StartsWith("pod/shown-"));
  EXPECT_THAT(kubectl("get deployment shown -o yaml").output, HasSubstr("kind: Deployment"));
  EXPECT_THAT(kubectl("get pods -A --field-selector status.phase=Running").output,
              HasSubstr("shown-"));
  EXPECT_THAT(kubectl("get nodes").output, HasSubstr("get-1"));
  EXPECT_THAT(kubectl("get all").output, HasSubstr("replicaset.apps/shown-"));
  EXPECT_THAT(kubectl("get events").output, HasSubstr("Scheduled"));
  EXPECT_THAT(kubectl("get pods nothing").output,
              HasSubstr("Error from server (NotFound): pods \"nothing\" not found"));
  kubectl("delete deployment shown");
}

TEST_F(Kubectl, DescribesPodsNodesAndDeployments) {
  launch_node("described-1");
  run_deployment("told", 1);
  const auto pod = kubectl("describe pods -l app=told");
  EXPECT_EQ(pod.exit_code, 0) << pod.output;
  EXPECT_THAT(pod.output, HasSubstr("Successfully assigned default/told-"));
  const auto node = kubectl("describe node described-1");
  EXPECT_EQ(node.exit_code, 0) << node.output;
  EXPECT_THAT(node.output, HasSubstr("Allocated resources"));
  EXPECT_THAT(kubectl("describe deployment told").output, HasSubstr("ScalingReplicaSet"));
  kubectl("delete deployment told");
}

TEST_F(Kubectl, LabelsAnnotatesAndTaints) {
  launch_node("marked-1");
  EXPECT_EQ(kubectl("label node marked-1 team=blue").output, "node/marked-1 labeled\n");
  EXPECT_EQ(kubectl("label node marked-1 team=red --overwrite").exit_code, 0);
  EXPECT_EQ(kubectl("annotate node marked-1 note=hello").output, "node/marked-1 annotated\n");
  EXPECT_EQ(kubectl("get node marked-1 -o jsonpath={.metadata.labels.team}").output, "red");
  EXPECT_EQ(kubectl("taint node marked-1 only=me:NoSchedule").output, "node/marked-1 tainted\n");
  EXPECT_THAT(kubectl("get node marked-1 -o jsonpath={.spec.taints}").output,
              HasSubstr("\"key\":\"only\""));
  EXPECT_EQ(kubectl("taint node marked-1 only=me:NoSchedule-").output, "node/marked-1 untainted\n");
}

constexpr const char* kBudget = R"(apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: guard}
spec:
  minAvailable: 1
  selector: {matchLabels: {app: guarded}}
)";

TEST_F(Kubectl, DrainsANodeWithinADisruptionBudget) {
  launch_node("drained-1");
  run_deployment("guarded", 2);
  ASSERT_EQ(kubectl("apply -f -", kBudget).exit_code, 0);
  const auto node = kubectl("get pods -l app=guarded -o jsonpath={.items[0].spec.nodeName}").output;
  launch_node("spare-1");
  ASSERT_EQ(kubectl("wait --for=condition=Ready node/spare-1 --timeout=60s").exit_code, 0);
  const auto drained = kubectl("drain " + node + " --ignore-daemonsets --force --timeout=120s");
  EXPECT_EQ(drained.exit_code, 0) << drained.output;
  EXPECT_THAT(drained.output, HasSubstr("pod/guarded-"));
  EXPECT_THAT(kubectl("get node " + node).output, HasSubstr("SchedulingDisabled"));
  EXPECT_EQ(kubectl("uncordon " + node).output, "node/" + node + " uncordoned\n");
  EXPECT_EQ(kubectl("get pdb guard").cell(1, "MIN AVAILABLE"), "1");
  kubectl("delete pdb guard");
  kubectl("delete deployment guarded");
}

constexpr const char* kPool = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  weight: 10
  template:
    spec:
      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
      requirements:
      - {key: kubernetes.io/arch, operator: In, values: [amd64]}
)";

TEST_F(Kubectl, WorksWithNodePools) {
  EXPECT_EQ(kubectl("apply -f -", kPool).output, "nodepool.karpenter.sh/general created\n");
  EXPECT_EQ(kubectl("apply -f -", kPool).output, "nodepool.karpenter.sh/general unchanged\n");
  const auto table = kubectl("get nodepools");
  EXPECT_EQ(table.cell(1, "NODECLASS"), "default");
  EXPECT_EQ(kubectl("get nodepools -o wide").cell(1, "WEIGHT"), "10");
  EXPECT_EQ(kubectl("patch nodepool general --type=merge -p '{\"spec\":{\"weight\":20}}'").output,
            "nodepool.karpenter.sh/general patched\n");
  EXPECT_EQ(kubectl("describe nodepool general").exit_code, 0);
  const auto invalid =
      kubectl("patch nodepool general --type=merge -p '{\"spec\":{\"weight\":2000}}'");
  EXPECT_NE(invalid.exit_code, 0);
  EXPECT_THAT(invalid.output, HasSubstr("The NodePool \"general\" is invalid: spec.weight"));
  const auto unknown = kubectl("apply -f -", std::string(kPool) + "  colour: red\n");
  EXPECT_THAT(unknown.output, HasSubstr("unknown field \"spec.colour\""));
  EXPECT_EQ(kubectl("delete nodepool general").output,
            "nodepool.karpenter.sh \"general\" deleted\n");
}

TEST_F(Kubectl, CreatesReplacesAndDeletesNamespaces) {
  EXPECT_EQ(kubectl("create namespace team").output, "namespace/team created\n");
  EXPECT_EQ(kubectl("-n team create configmap settings --from-literal=a=1").output,
            "configmap/settings created\n");
  EXPECT_EQ(kubectl("-n team create secret generic hidden --from-literal=p=q").exit_code, 0);
  EXPECT_EQ(kubectl("-n team get configmap settings").cell(1, "DATA"), "1");
  const auto yaml = kubectl("-n team get configmap settings -o yaml").output;
  EXPECT_EQ(kubectl("replace -f -", yaml).output, "configmap/settings replaced\n");
  EXPECT_EQ(kubectl("delete namespace team --timeout=60s").output, "namespace \"team\" deleted\n");
  EXPECT_THAT(kubectl("get namespaces").output, Not(HasSubstr("team")));
}

TEST_F(Kubectl, WatchesChanges) {
  EXPECT_EQ(kubectl("create configmap watched --from-literal=a=1").exit_code, 0);
  KubectlStream stream("get configmap watched -w --no-headers");
  EXPECT_THAT(stream.next_line(), testing::MatchesRegex("watched +1 .*"));
  EXPECT_EQ(kubectl(R"(patch configmap watched -p '{"data":{"b":"2"}}')").exit_code, 0);
  EXPECT_THAT(stream.next_line(), testing::MatchesRegex("watched +2 .*"));
  EXPECT_EQ(kubectl("delete configmap watched").exit_code, 0);
}

TEST_F(Kubectl, IsRefusedWithoutTheToken) {
  const auto refused = kubectl("get pods --token=wrong");
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.output, HasSubstr("You must be logged in to the server"));
}

}  // namespace
}  // namespace millwright::sandbox
