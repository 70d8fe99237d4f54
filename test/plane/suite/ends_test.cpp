// How nodes end, in which order their pods go, and nodes of the legacy kinds.

#include "plane/suite/fixture.hpp"

#include <algorithm>
#include <csignal>
#include <sstream>

namespace millwright::plane {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class Ends : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ClusterOptions options;
    options.controller.clouds = "kwok,aws";
    cluster_ = Cluster::start(std::move(options));
  }
  static void TearDownTestSuite() { cluster_.reset(); }
  void SetUp() override { ASSERT_NE(cluster_, nullptr) << "the control plane is not up"; }
  static Cluster& cluster() { return *cluster_; }

  // The "app" label of the pods that were evicted from a namespace, in the order of the API
  // server's audit log.
  static std::vector<std::string> evicted(const std::string& prefix) {
    std::vector<std::string> order;
    std::istringstream log(read_text(cluster().plane().directory() + "/audit.log"));
    for (std::string line; std::getline(log, line);) {
      boost::system::error_code torn;
      const auto event = json::parse(line, torn);
      boost::system::error_code none;
      if (torn || text_at(event, "/objectRef/subresource") != "eviction") {
        continue;
      }
      const auto* code = event.find_pointer("/responseStatus/code", none);
      const std::string pod = text_at(event, "/objectRef/name");
      if (code != nullptr && *code == 201 && pod.starts_with(prefix)) {
        const std::string app = pod.substr(0, pod.rfind('-'));
        if (std::find(order.begin(), order.end(), app) == order.end()) {
          order.push_back(app);
        }
      }
    }
    return order;
  }

  inline static std::unique_ptr<Cluster> cluster_;
};

std::string bare_pod(const std::string& name, const std::string& pool,
                     const std::string& priority_class) {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
         ", labels: {app: order}}\nspec:\n" + "  nodeSelector: {karpenter.sh/nodepool: " + pool +
         "}\n" + (priority_class.empty() ? "" : "  priorityClassName: " + priority_class + "\n") +
         "  terminationGracePeriodSeconds: 1\n"
         "  containers: [{name: main, image: \"registry.k8s.io/pause:3.10\", "
         "resources: {requests: {cpu: 100m}}}]\n";
}

std::string daemon_set(const std::string& name, const std::string& pool,
                       const std::string& priority_class) {
  return "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: " + name +
         "}\nspec:\n  selector: {matchLabels: {app: " + name +
         "}}\n  template:\n    metadata: {labels: {app: " + name +
         "}}\n    spec:\n      nodeSelector: {karpenter.sh/nodepool: " + pool + "}\n" +
         (priority_class.empty() ? "" : "      priorityClassName: " + priority_class + "\n") +
         "      terminationGracePeriodSeconds: 1\n"
         "      containers: [{name: main, image: \"registry.k8s.io/pause:3.10\", "
         "resources: {requests: {cpu: 50m}}}]\n";
}

// Pods first, then DaemonSets' pods, then critical ones, then critical DaemonSets': what serves
// others goes after those it serves.
TEST_F(Ends, ADrainGoesFromPlainPodsToCriticalDaemons) {
  cluster().apply(node_pool("order", "Never"));
  cluster().apply(daemon_set("order-2daemon", "order", ""));
  cluster().apply(daemon_set("order-4system", "order", "system-node-critical"));
  cluster().apply(bare_pod("order-1plain-x", "order", ""));
  cluster().apply(bare_pod("order-3vital-x", "order", "system-cluster-critical"));
  cluster().wait("all four run on one node", seconds(60), [&] {
    const auto pods = cluster().plane().list(std::string(kPods));
    return pods.size() == 4 && std::all_of(pods.begin(), pods.end(), [](const auto& pod) {
             return text_at(pod, "/status/phase") == "Running";
           });
  });
  ASSERT_EQ(cluster().claims("order").size(), 1U);
  cluster().kubectl({"delete", "nodeclaim", "--all", "--timeout=120s"});
  EXPECT_THAT(evicted("order-"),
              ElementsAre("order-1plain", "order-2daemon", "order-3vital", "order-4system"));
  cluster().kubectl({"delete", "daemonset", "order-2daemon", "order-4system"});
  cluster().clean_up("order", "order");
}

// WhenEmpty: a node with a pod stays, however much room is on it, and goes once it is empty.
TEST_F(Ends, WhenEmptyTakesOnlyEmptyNodes) {
  std::string pool = node_pool("emptied", "1s");
  const std::string policy = "WhenEmptyOrUnderutilized";
  pool.replace(pool.find(policy), policy.size(), "WhenEmpty");
  cluster().apply(pool);
  cluster().apply(deployment({.name = "emptied", .replicas = 6, .cpu = "2", .pool = "emptied"}));
  cluster().wait_running("emptied", 6);
  const std::string node = text_at(cluster().nodes("emptied").at(0), "/metadata/name");
  ASSERT_EQ(cluster().nodes("emptied").size(), 1U);
  cluster().kubectl({"scale", "deployment", "emptied", "--replicas=1"});
  cluster().wait_running("emptied", 1);
  // Another pool's node empties and goes meanwhile: disruption had its turn.
  cluster().apply(node_pool("witness", "1s"));
  cluster().apply(deployment({.name = "witness", .replicas = 1, .pool = "witness"}));
  cluster().wait_running("witness", 1);
  cluster().kubectl({"delete", "deployment", "witness"});
  cluster().wait_no_nodes("witness");
  EXPECT_EQ(cluster().nodes("emptied").size(), 1U);
  EXPECT_EQ(text_at(cluster().nodes("emptied").at(0), "/metadata/name"), node);
  EXPECT_EQ(cluster().running("emptied"), 1U);
  cluster().kubectl({"delete", "deployment", "emptied"});
  cluster().wait_no_nodes("emptied");
  cluster().kubectl({"delete", "nodepool", "emptied", "witness"});
}

// The manifests of Karpenter's first years, by `kubectl create`, and away again.
TEST_F(Ends, ALegacyProvisionerBuysNodesAndTakesThemAlong) {
  const std::string said = cluster().kubectl(
      {"create", "-f", SOURCE_ROOT "/manifests/examples/aws-legacy-default.yaml"});
  EXPECT_THAT(said, AllOf(HasSubstr("provisioner.karpenter.sh/default created"),
                          HasSubstr("awsnodetemplate.karpenter.k8s.aws/default created")));
  cluster().wait("it became a NodePool that is Ready", seconds(60), [&] {
    return cluster().plane().kubectl({"get", "nodepools"}).text.find("True") != std::string::npos;
  });
  const auto pool = cluster().plane().call("GET", std::string(kPools) + "/default").body;
  EXPECT_EQ(text_at(pool, "/metadata/ownerReferences/0/kind"), "Provisioner");
  EXPECT_EQ(text_at(pool, "/spec/template/spec/nodeClassRef/kind"), "EC2NodeClass");
  cluster().apply(deployment({.name = "legacy", .replicas = 2, .pool = "default"}));
  cluster().wait_running("legacy", 2, seconds(120));
  for (const auto& node : cluster().nodes("default")) {
    EXPECT_THAT(text_at(node, "/metadata/labels/node.kubernetes.io~1instance-type"),
                testing::StartsWith("m5."));
  }
  cluster().kubectl({"delete", "deployment", "legacy"});
  cluster().kubectl({"delete", "provisioner", "default", "--timeout=60s"});
  cluster().wait("its NodePool and nodes are gone", seconds(120), [&] {
    return cluster().plane().list(std::string(kPools)).empty() && cluster().nodes().empty();
  });
  cluster().kubectl({"delete", "awsnodetemplate", "default", "--timeout=60s"});
}

// Somebody takes a NodeClaim's finalizer off and deletes it: nobody owns its instance any more.
TEST(Leaks, AnInstanceWithoutAClaimIsEnded) {
  const auto cluster = Cluster::start({.controller = {.flags = {"--garbage-collection-period=2s"}},
                                       .cloud = std::vector<std::string>{"--termination=0s"}});
  ASSERT_NE(cluster, nullptr);
  cluster->apply(node_pool("leaked", "Never"));
  cluster->apply(deployment({.name = "leaked", .replicas = 1, .pool = "leaked"}));
  cluster->wait_running("leaked", 1);
  const auto claim = cluster->claims("leaked").at(0);
  const std::string instance = text_at(claim, "/status/providerID");
  const std::string path = std::string(kClaims) + "/" + text_at(claim, "/metadata/name");
  cluster->controller().process().signal(SIGSTOP);  // it would put the finalizer back
  cluster->plane().call("PATCH", path, json::object{{"metadata", {{"finalizers", nullptr}}}},
                        "application/merge-patch+json");
  cluster->plane().call("DELETE", path);
  EXPECT_EQ(cluster->plane().call("GET", path).status, 404);
  cluster->controller().process().signal(SIGCONT);
  cluster->wait("its instance is ended", seconds(90), [&] {
    const auto all = cluster->cloud().instances();
    return std::none_of(all.begin(), all.end(),
                        [&](const auto& each) { return text_at(each, "/providerID") == instance; });
  });
  cluster->wait("the pod runs on another node", seconds(90), [&] {
    return cluster->running("leaked") == 1 && cluster->nodes("leaked").size() == 1 &&
           text_at(cluster->nodes("leaked").at(0), "/spec/providerID") != instance;
  });
  cluster->clean_up("leaked", "leaked");
}

// A pod that was refused because room is held for another one is tried again, at once, when that
// one goes: kube-scheduler would let it wait for minutes.
TEST_F(Ends, APodThatWasRefusedIsWokenWhenTheHoldEnds) {
  const std::string tolerations =
      "      tolerations: [{key: example.com/agent, operator: Exists}]\n";
  cluster().apply(node_pool("woken", "Never",
                            "      startupTaints: [{key: example.com/agent, effect: NoSchedule}]\n"
                            "  limits: {cpu: \"4\"}\n"));
  // Planned for, and kept out by the taint.
  cluster().apply(deployment({.name = "keeper", .replicas = 1, .cpu = "3", .pool = "woken"}));
  cluster().wait("its node is Ready", seconds(60), [&] {
    return cluster()
               .plane()
               .kubectl({"get", "nodes", "-l", "karpenter.sh/nodepool=woken"})
               .text.find(" Ready ") != std::string::npos;
  });
  // Could run there, if the room were free; and no second node may be bought.
  cluster().apply(deployment(
      {.name = "sleeper", .replicas = 1, .cpu = "3", .pool = "woken", .pod_spec = tolerations}));
  cluster().wait("it is refused for the other's sake", seconds(60), [&] {
    return cluster()
               .plane()
               .kubectl({"get", "events"})
               .text.find("room is reserved for other pods") != std::string::npos;
  });
  EXPECT_EQ(cluster().running("sleeper"), 0U);
  cluster().kubectl({"delete", "deployment", "keeper"});
  cluster().wait_running("sleeper", 1, seconds(30));
  cluster().clean_up("sleeper", "woken");
}

// SIGTERM in the middle of work: what runs is finished, the Lease is given up, exit status 0.
TEST(Stopping, TheProgramEndsWhenItIsTold) {
  const auto cluster = Cluster::start({.cloud = std::vector<std::string>{"--launch=1s"}});
  ASSERT_NE(cluster, nullptr);
  const std::string lease =
      "/apis/coordination.k8s.io/v1/namespaces/millwright-system/leases/karpenter-leader-election";
  constexpr int kTimes = 3;
  for (int time = 0; time < kTimes; ++time) {
    const std::string name = "stopped-" + std::to_string(time);
    cluster->apply(node_pool(name, "Never"));
    cluster->apply(deployment({.name = name, .replicas = 12, .pool = name}));
    cluster->wait("claims exist", seconds(30), [&] { return !cluster->claims(name).empty(); });
    auto& process = cluster->controller().process();
    process.signal(SIGTERM);
    cluster->wait("it is not ready", seconds(2), [&] { return !cluster->controller().ready(); });
    EXPECT_TRUE(cluster->controller().ask_extender(
        "filter", json::parse(R"({"Pod":{"metadata":{"name":"p","namespace":"default",)"
                              R"("uid":"u"}},"NodeNames":["n"]})")))
        << "who still calls is answered";
    EXPECT_EQ(process.wait(milliseconds(12'000)), 0) << process.log_tail();
    EXPECT_EQ(text_at(cluster->plane().call("GET", lease).body, "/spec/holderIdentity"), "");
    ControllerOptions options;
    options.cloud_url = cluster->cloud().url();
    auto again = Controller::start(cluster->plane(), std::move(options));
    ASSERT_TRUE(again.has_value()) << again.error().message;
    cluster->set_controller(*std::move(again));
    cluster->wait_running(name, 12, seconds(120));
  }
}

}  // namespace
}  // namespace millwright::plane
