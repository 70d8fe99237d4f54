// What somebody may do with a stolen token of the program, and what a kubelet may: the policies of
// an installation, on the real API server. All other tests show that the program can work under
// them. Most writes are dry runs, which are admitted as others are and stored nowhere.

#include "millwright/base/loop.hpp"
#include "plane/suite/fixture.hpp"

#include <fmt/format.h>

namespace millwright::plane {
namespace {

using testing::HasSubstr;

constexpr const char* kMerge = "application/merge-patch+json";
constexpr const char* kStrategic = "application/strategic-merge-patch+json";
constexpr const char* kJsonPatch = "application/json-patch+json";

class Policies : public OnCluster<struct PoliciesTag> {
 protected:
  void SetUp() override {
    OnCluster::SetUp();
    if (HasFatalFailure()) {
      return;
    }
    const json::object request{{"apiVersion", "authentication.k8s.io/v1"},
                               {"kind", "TokenRequest"},
                               {"spec", {{"expirationSeconds", 3600}}}};
    const std::string account =
        fmt::format("/api/v1/namespaces/{}/serviceaccounts/millwright/token", kNamespace);
    token_ = text_at(plane().call("POST", account, request).body, "/status/token");
    ASSERT_NE(token_, "");
  }
  static Plane& plane() { return cluster().plane(); }

  struct Write {
    std::string path;
    json::value body;
    std::string content_type = kMerge;
    std::string method = "PATCH";
  };

  Answer with_token(const Write& write) const {
    net::ClientTls tls = plane().admin_tls();
    tls.certificate_pem.clear();
    tls.key_pem.clear();
    net::ClientRequest request;
    request.method = write.method;
    request.url = plane().url() + write.path + "?dryRun=All";
    request.headers.set("Authorization", "Bearer " + token_);
    if (!write.body.is_null()) {
      request.headers.set("Content-Type", write.content_type);
      request.body = json::serialize(write.body);
    }
    base::RealLoop loop;  // never run: the call blocks
    const auto client = net::make_client(loop, tls);
    const auto response = client->send_blocking(std::move(request));
    boost::system::error_code none;
    return response ? Answer{.status = response->status, .body = json::parse(response->body, none)}
                    : Answer{};
  }
  // The API server hears of a new policy a moment after it is stored.
  void expect_refused(const Write& write, const std::string& why) const {
    Answer answer;
    const bool refused = wait_until(seconds(20), [&] {
      answer = with_token(write);
      return text_at(answer.body, "/message").find(why) != std::string::npos;
    });
    EXPECT_TRUE(refused && answer.status == 403)
        << write.method << " " << write.path << " " << json::serialize(write.body)
        << " is answered " << answer.status << " " << json::serialize(answer.body)
        << ", not: " << why;
  }
  void expect_allowed(const Write& write) const {
    const Answer answer = with_token(write);
    EXPECT_TRUE(answer.status == 200 || answer.status == 201)
        << write.path << " " << json::serialize(write.body) << ": " << answer.status << " "
        << json::serialize(answer.body);
  }

  // kubectl with a kubeconfig of somebody else's; of two the last counts.
  static Output as(const std::string& kubeconfig, std::vector<std::string> arguments,
                   const std::string& input = {}) {
    arguments.insert(arguments.begin(), "--kubeconfig=" + kubeconfig);
    return plane().kubectl(arguments, input);
  }
  static void expect_refused_to(const std::string& kubeconfig,
                                const std::vector<std::string>& arguments, const std::string& why,
                                const std::string& input = {}) {
    Output output;
    const bool refused = wait_until(seconds(20), [&] {
      output = as(kubeconfig, arguments, input);
      return output.exit_code != 0 && output.text.find(why) != std::string::npos;
    });
    EXPECT_TRUE(refused) << testing::PrintToString(arguments) << " says " << output.text
                         << ", not: " << why;
  }

  // Writes the Node's status, as a kubelet does; kubectl patch would read that first, which a
  // kubelet may not. Whatever version the Node has.
  static Output put_status(const std::string& kubeconfig, const std::string& name,
                           const std::function<void(json::object&)>& change) {
    const std::string path = "/api/v1/nodes/" + name;
    json::object node = plane().call("GET", path).body.as_object();
    node.at("metadata").as_object().erase("resourceVersion");
    change(node);
    return as(kubeconfig, {"replace", "--raw", path + "/status", "-f", "-"}, json::serialize(node));
  }

  // A node of the program's own, with a pod.
  static std::string begin(const std::string& name) {
    cluster().apply(node_pool(name, "Never"));
    cluster().apply(deployment({.name = name, .replicas = 1, .pool = name}));
    cluster().wait_running(name, 1);
    const auto nodes = cluster().nodes(name);
    return nodes.empty() ? "" : text_at(nodes.front(), "/metadata/name");
  }

 private:
  std::string token_;
};

json::value with_metadata(std::string_view field, json::value value) {
  return json::object{{"metadata", json::object{{field, std::move(value)}}}};
}

// One entry of the labels or annotations; null takes it away.
json::value with_entry(std::string_view field, std::string_view key, json::value value) {
  return with_metadata(field, json::object{{key, std::move(value)}});
}

json::value with_taint(std::string_view key, std::string_view effect) {
  const json::object taint{{"key", key}, {"effect", effect}};
  return json::object{{"spec", json::object{{"taints", json::array{taint}}}}};
}

TEST_F(Policies, AStolenTokenChangesNothingOnPodsButWhatWakesThem) {
  cluster().apply(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: target, labels: {app: target}, annotations: "
      "{team: a}}\nspec:\n  nodeSelector: {nowhere: \"true\"}\n"
      "  containers: [{name: main, image: \"registry.k8s.io/pause:3.10\"}]\n");
  const std::string pod = std::string(kPods) + "/target";
  const json::object container{{"name", "main"}, {"image", "example.com/evil:1"}};
  const json::object spec{{"containers", json::array{container}}};
  expect_refused({.path = pod, .body = json::object{{"spec", spec}}, .content_type = kStrategic},
                 "Millwright changes nothing in the spec of a pod");
  const std::string label = "Millwright changes no label, finalizer or owner of a pod";
  expect_refused({.path = pod, .body = with_entry("labels", "app", "other")}, label);
  expect_refused({.path = pod, .body = with_metadata("labels", nullptr)}, label);
  const json::array finalizers{"example.com/stay"};
  expect_refused({.path = pod, .body = with_metadata("finalizers", finalizers)}, label);
  const std::string annotation = "Millwright changes no annotation of a pod but millwright.io/kick";
  expect_refused({.path = pod, .body = with_entry("annotations", "team", "b")}, annotation);
  expect_refused({.path = pod, .body = with_entry("annotations", "team", nullptr)}, annotation);
  expect_allowed({.path = pod, .body = with_entry("annotations", "millwright.io/kick", "1")});
  cluster().kubectl({"delete", "pod", "target", "--grace-period=0", "--force"});
}

TEST_F(Policies, AStolenTokenChangesOnlyTheProgramsMarksOnItsNodes) {
  const std::string node = std::string(kNodes) + "/" + begin("guarded");
  const std::string label = "changes only its own labels afterwards";
  expect_refused({.path = node, .body = with_entry("labels", "team", "b")}, label);
  expect_refused({.path = node, .body = with_entry("labels", "kubernetes.io/os", nullptr)}, label);
  expect_refused({.path = node, .body = with_entry("annotations", "team", "b")},
                 "changes none afterwards");
  expect_refused({.path = node, .body = with_metadata("ownerReferences", nullptr)},
                 "Millwright changes no owner of a Node");
  expect_refused({.path = node, .body = json::object{{"spec", {{"unschedulable", true}}}}},
                 "Millwright changes nothing in the spec of a Node but taints");
  const std::string taint = "Millwright adds no taint to a registered Node but";
  expect_refused({.path = node, .body = with_taint("example.com/evil", "NoSchedule")}, taint);
  expect_refused({.path = node, .body = with_taint("karpenter.sh/disrupted", "NoExecute")}, taint);
  expect_allowed({.path = node, .body = with_taint("karpenter.sh/disrupted", "NoSchedule")});
  expect_allowed({.path = node, .body = with_entry("labels", "karpenter.sh/initialized", "true")});
  cluster().clean_up("guarded", "guarded");
}

TEST_F(Policies, AStolenTokenLeavesNodesOfOthersAlone) {
  cluster().apply("apiVersion: v1\nkind: Node\nmetadata: {name: foreign, labels: {team: a}}\n");
  cluster().apply(
      "apiVersion: v1\nkind: Node\nmetadata: {name: control-plane, labels: "
      "{node-role.kubernetes.io/control-plane: \"\"}}\n");
  const std::string foreign = std::string(kNodes) + "/foreign";
  const std::string control_plane = std::string(kNodes) + "/control-plane";
  const std::string only = "Millwright changes only Nodes that it registers";
  expect_refused({.path = foreign, .body = with_entry("labels", "team", "b")}, only);
  expect_refused({.path = foreign, .body = with_taint("example.com/evil", "NoExecute")}, only);
  json::object labels{{"karpenter.sh/registered", "true"}};
  expect_refused({.path = control_plane, .body = with_metadata("labels", labels)}, only);
  labels["team"] = nullptr;
  expect_refused({.path = foreign, .body = with_metadata("labels", labels)},
                 "Millwright takes no label off a Node that it registers");
  for (const auto& node : {foreign, control_plane}) {
    expect_refused({.path = node, .body = nullptr, .method = "DELETE"},
                   "Millwright deletes no Node that is not of a NodeClaim");
  }
  cluster().kubectl({"delete", "node", "foreign", "control-plane"});
}

TEST_F(Policies, AStolenTokenWritesNoSpecOfPeopleAndSendsNothingElsewhere) {
  cluster().apply(node_pool("theirs", "Never"));
  const std::string pool = std::string(kPools) + "/theirs";
  const std::string spec = "Millwright writes no spec but that of an object that it made";
  expect_refused({.path = pool, .body = json::object{{"spec", {{"weight", 7}}}}}, spec);
  auto created = plane().call("GET", pool).body;
  created.as_object().erase("status");
  created.as_object()["metadata"] = json::object{{"name", "stolen"}};
  expect_refused({.path = std::string(kPools),
                  .body = created,
                  .content_type = "application/json",
                  .method = "POST"},
                 spec);
  const std::string_view mark = "millwright.io/legacy-provisioner";
  expect_refused({.path = pool, .body = with_entry("labels", mark, "x")},
                 "Millwright takes over no object that somebody else made");
  const std::string_view hash = "karpenter.sh/nodepool-hash";
  expect_allowed({.path = pool, .body = with_entry("annotations", hash, "1")});
  cluster().kubectl({"delete", "nodepool", "theirs"});

  for (const std::string kind : {"mutating", "validating"}) {
    const std::string path =
        "/apis/admissionregistration.k8s.io/v1/" + kind + "webhookconfigurations/millwright";
    const auto replace = [](const std::string& field, json::value value) {
      return json::array{
          json::object{{"op", "add"}, {"path", "/webhooks/0/" + field}, {"value", value}}};
    };
    const std::string only = "changes nothing in its webhook configurations but the caBundle";
    expect_refused({.path = path,
                    .body = replace("rules/0/resources", json::array{"*"}),
                    .content_type = kJsonPatch},
                   only);
    expect_refused(
        {.path = path,
         .body = replace("clientConfig", json::object{{"url", "https://evil.example.com/all"}}),
         .content_type = kJsonPatch},
        only);
    const auto now = plane().call("GET", path).body;
    const json::string bundle(text_at(now, "/webhooks/0/clientConfig/caBundle"));
    expect_allowed({.path = path,
                    .body = replace("clientConfig/caBundle", bundle),
                    .content_type = kJsonPatch});
  }
}

TEST_F(Policies, AKubeletWritesNothingThatOnlyTheProgramSays) {
  const std::string kubelet = plane().kubeconfig_of("system:node:worker", {"system:nodes"});
  const std::string node =
      "apiVersion: v1\nkind: Node\nmetadata:\n  name: worker\n"
      "  labels: {karpenter.sh/nodepool: none}\n";
  const std::string annotations = "kubelets write no annotation of karpenter.sh or millwright.io";
  expect_refused_to(kubelet, {"create", "--dry-run=server", "-f", "-"}, annotations,
                    node + "  annotations: {millwright.io/fence: \"{}\"}\n");
  const Output created = as(kubelet, {"create", "-f", "-"}, node);
  ASSERT_EQ(created.exit_code, 0) << created.text;
  for (const std::string annotation :
       {"millwright.io/reservations=[]", "karpenter.sh/do-not-disrupt=true"}) {
    expect_refused_to(kubelet, {"annotate", "node", "worker", annotation}, annotations);
  }
  const Output with_fence = put_status(kubelet, "worker", [](json::object& object) {
    object.at("metadata").as_object()["annotations"] = {{"millwright.io/fence", "{}"}};
  });
  EXPECT_NE(with_fence.exit_code, 0);
  EXPECT_THAT(with_fence.text, HasSubstr(annotations));
  const std::string labels = "kubelets change no label of karpenter.sh or millwright.io";
  for (const std::string label : {"karpenter.sh/initialized=true", "karpenter.sh/nodepool-"}) {
    expect_refused_to(kubelet, {"label", "node", "worker", label}, labels);
  }
  cluster().kubectl({"patch", "node", "worker", "--type=merge", "-p",
                     R"({"metadata":{"finalizers":["karpenter.sh/termination"]}})"});
  const std::string no_finalizers = R"({"metadata":{"finalizers":null}})";
  expect_refused_to(kubelet, {"patch", "node", "worker", "--type=merge", "-p", no_finalizers},
                    "kubelets do not take off the finalizer karpenter.sh/termination");
  EXPECT_EQ(as(kubelet, {"annotate", "node", "worker", "example.com/rack=7"}).exit_code, 0);
  const Output ready = put_status(kubelet, "worker", [](json::object& object) {
    object["status"] = {{"conditions", json::array{{{"type", "Ready"}, {"status", "True"}}}}};
  });
  EXPECT_EQ(ready.exit_code, 0) << ready.text;
  cluster().kubectl({"patch", "node", "worker", "--type=merge", "-p", no_finalizers});
  cluster().kubectl({"delete", "node", "worker"});
}

TEST_F(Policies, AKubeletWritesNoNodeClaimWhateverItsRole) {
  begin("held");
  cluster().apply(
      "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: careless}\n"
      "rules: [{apiGroups: [karpenter.sh], resources: [\"*\"], verbs: [\"*\"]}]\n---\n"
      "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\n"
      "metadata: {name: careless}\n"
      "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: careless}\n"
      "subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: \"system:nodes\"}]\n");
  const std::string kubelet = plane().kubeconfig_of("system:node:worker", {"system:nodes"});
  const std::string claim = text_at(cluster().claims("held").at(0), "/metadata/name");
  const std::string none = "kubelets write no objects of karpenter.sh";
  expect_refused_to(kubelet, {"annotate", "nodeclaim", claim, "millwright.io/fence={}"}, none);
  expect_refused_to(kubelet,
                    {"patch", "nodeclaim", claim, "--subresource=status", "--type=merge", "-p",
                     R"({"status":{"nodeName":"worker"}})"},
                    none);
  expect_refused_to(kubelet, {"delete", "nodeclaim", claim, "--wait=false"}, none);
  expect_refused_to(kubelet, {"create", "-f", "-"}, none, node_pool("forged"));
  cluster().kubectl({"delete", "clusterrole,clusterrolebinding", "careless"});
  cluster().clean_up("held", "held");
}

}  // namespace
}  // namespace millwright::plane
