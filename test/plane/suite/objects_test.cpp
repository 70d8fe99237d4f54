// What people write with kubectl comes back as they wrote it: with the defaults, and with nothing
// lost to the webhooks or to what the controllers write beside it.

#include "millwright/model/codec.hpp"
#include "plane/suite/fixture.hpp"

#include <cstdlib>
#include <filesystem>
#include <set>

namespace millwright::plane {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr auto kExamples = SOURCE_ROOT "/manifests/examples";

// Every simulated cloud, so that the NodeClasses of each are worked on.
class Objects : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ClusterOptions options;
    options.controller.clouds = "kwok,aws,alibaba,huawei";
    cluster_ = Cluster::start(std::move(options));
  }
  static void TearDownTestSuite() { cluster_.reset(); }
  void SetUp() override { ASSERT_NE(cluster_, nullptr) << "the control plane is not up"; }
  static Cluster& cluster() { return *cluster_; }

  static json::value stored(const std::string& kind, const std::string& name) {
    return json::parse(cluster().kubectl({"get", kind, name, "-o", "json"}));
  }
  static void wait_condition(const std::string& kind, const std::string& name) {
    cluster().kubectl({"wait", "--for=condition=Ready", kind + "/" + name, "--timeout=60s"});
  }

  inline static std::unique_ptr<Cluster> cluster_;
};

// Whether all of `part` is in `whole`: members may be added to objects, nothing to lists.
bool holds(const json::value& whole, const json::value& part) {
  if (part.is_object() && whole.is_object()) {
    return std::all_of(part.get_object().begin(), part.get_object().end(), [&](const auto& member) {
      const auto* found = whole.get_object().if_contains(member.key());
      return found != nullptr && holds(*found, member.value());
    });
  }
  if (part.is_array() && whole.is_array()) {
    const auto& parts = part.get_array();
    const auto& wholes = whole.get_array();
    return parts.size() == wholes.size() &&
           std::equal(parts.begin(), parts.end(), wholes.begin(),
                      [](const auto& one, const auto& other) { return holds(other, one); });
  }
  return whole == part;
}

std::string annotation(const json::value& object, const std::string& name) {
  const auto* metadata = object.at("metadata").as_object().if_contains("annotations");
  const auto* value = metadata == nullptr ? nullptr : metadata->as_object().if_contains(name);
  return value == nullptr ? "" : std::string(value->as_string());
}

TEST_F(Objects, AMinimalNodePoolIsStoredWithEveryDefault) {
  EXPECT_THAT(cluster().kubectl({"create", "-f", "-"}, R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: minimal}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
      requirements: []
)"),
              AllOf(HasSubstr("created"), Not(HasSubstr("Warning"))));
  const auto spec = stored("nodepool", "minimal").at("spec");
  EXPECT_EQ(text_at(spec, "/disruption/consolidationPolicy"), "WhenEmptyOrUnderutilized");
  EXPECT_EQ(text_at(spec, "/disruption/consolidateAfter"), "0s");
  EXPECT_EQ(text_at(spec, "/disruption/budgets/0/nodes"), "10%");
  EXPECT_EQ(text_at(spec, "/template/spec/expireAfter"), "720h");
  wait_condition("nodepool", "minimal");
  EXPECT_EQ(stored("nodepool", "minimal").at("spec"), spec) << "the controllers changed the spec";
  EXPECT_EQ(stored("nodepool", "minimal").at("metadata").at("generation"), 1);
  cluster().kubectl({"delete", "nodepool", "minimal"});
}

// Every example of our own kinds: applied, worked on, read, applied again.
TEST_F(Objects, ExamplesRoundTripUnchanged) {
  std::set<std::string> files;
  for (const auto& file : std::filesystem::directory_iterator(kExamples)) {
    files.insert(file.path());
  }
  int compared = 0;
  for (const auto& file : files) {
    const auto documents = model::parse_yaml(read_text(file));
    ASSERT_TRUE(documents.has_value()) << file << ": " << documents.error().message;
    for (const auto& sent : *documents) {
      const std::string version = sent.is_object() ? text_at(sent, "/apiVersion") : "";
      if (!version.starts_with("karpenter.")) {
        continue;
      }
      const std::string kind = text_at(sent, "/kind");
      const std::string name = text_at(sent, "/metadata/name");
      // Two groups have an ECSNodeClass.
      const auto slash = version.find('/');
      const std::string resource =
          kind + "." + version.substr(slash + 1) + "." + version.substr(0, slash);
      const std::string text = json::serialize(sent);
      cluster().kubectl({"apply", "-f", "-"}, text);
      if (kind == "NodePool") {
        cluster().wait("its hash is written", seconds(30), [&] {
          return !annotation(stored(resource, name), "karpenter.sh/nodepool-hash").empty();
        });
      }
      EXPECT_TRUE(holds(stored(resource, name), sent))
          << file << "\nsent " << text << "\nstored " << json::serialize(stored(resource, name));
      EXPECT_THAT(cluster().kubectl({"apply", "-f", "-"}, text), HasSubstr("unchanged")) << file;
      EXPECT_EQ(cluster().plane().kubectl({"diff", "-f", "-"}, text).exit_code, 0) << file;
      EXPECT_THAT(
          cluster().kubectl({"apply", "--server-side", "--force-conflicts", "-f", "-"}, text),
          HasSubstr("serverside-applied"));
      EXPECT_TRUE(holds(stored(resource, name), sent)) << file;
      cluster().kubectl({"delete", "--wait=false", "-f", "-"}, text);
      cluster().wait("it is gone, and what was made of it", seconds(60), [&] {
        return cluster().plane().kubectl({"get", resource, name}).exit_code != 0 &&
               (kind != "Provisioner" || cluster().plane().list(std::string(kPools)).empty());
      });
      ++compared;
    }
  }
  EXPECT_GT(compared, 10);
  cluster().apply(kwok_node_class());  // one of the examples, and what the other tests refer to
}

// Metadata that this program has no use for, edits in between, and its own hash and status.
TEST_F(Objects, EditsAndPatchesKeepWhatIsUnknownToUs) {
  cluster().apply(node_pool("kept"));
  cluster().wait("its hash is written", seconds(30), [&] {
    return !annotation(stored("nodepool", "kept"), "karpenter.sh/nodepool-hash").empty();
  });
  const std::string hash = annotation(stored("nodepool", "kept"), "karpenter.sh/nodepool-hash");
  const auto owner = stored("kwoknodeclass", "default");
  const json::object foreign{
      {"labels", {{"example.com/team", "blue"}}},
      {"annotations", {{"example.com/note", "keep me"}}},
      {"finalizers", json::array{"example.com/archive"}},
      {"ownerReferences", json::array{json::object{{"apiVersion", "karpenter.kwok.sh/v1alpha1"},
                                                   {"kind", "KWOKNodeClass"},
                                                   {"name", "default"},
                                                   {"uid", owner.at("metadata").at("uid")}}}}};
  cluster().kubectl({"patch", "nodepool", "kept", "--type=merge", "-p",
                     json::serialize(json::object{{"metadata", foreign}})});
  // kubectl edit, with an editor that changes what the hash is made of.
  ASSERT_EQ(setenv("KUBE_EDITOR", "sed -i 's/expireAfter: 720h/expireAfter: 480h/'", 1), 0);
  EXPECT_THAT(cluster().kubectl({"edit", "nodepool", "kept"}), HasSubstr("edited"));
  unsetenv("KUBE_EDITOR");
  cluster().kubectl({"patch", "nodepool", "kept", "--type=json", "-p",
                     R"([{"op":"add","path":"/spec/weight","value":5}])"});
  cluster().wait("the new hash is written", seconds(30), [&] {
    return annotation(stored("nodepool", "kept"), "karpenter.sh/nodepool-hash") != hash;
  });
  const auto object = stored("nodepool", "kept");
  EXPECT_TRUE(holds(object.at("metadata"), foreign)) << json::serialize(object);
  EXPECT_EQ(text_at(object, "/spec/template/spec/expireAfter"), "480h");
  EXPECT_EQ(object.at("spec").at("weight"), 5);
  cluster().kubectl(
      {"patch", "nodepool", "kept", "--type=merge", "-p", R"({"metadata":{"finalizers":null}})"});
  cluster().kubectl({"delete", "nodepool", "kept"});
}

// A Node has fields that this program does not know; its patches leave them alone.
TEST_F(Objects, ANodeKeepsWhatOthersWroteOnIt) {
  cluster().apply(node_pool("worn", "Never"));
  cluster().apply(deployment({.name = "worn", .replicas = 1, .pool = "worn"}));
  cluster().wait_running("worn", 1);
  const std::string name = text_at(cluster().nodes("worn").at(0), "/metadata/name");
  cluster().kubectl({"patch", "node", name, "--type=merge", "-p",
                     R"({"metadata":{"annotations":{"example.com/rack":"7"}},
                         "spec":{"taints":[{"key":"example.com/slow","effect":"PreferNoSchedule"}]}})"});
  cluster().kubectl({"patch", "node", name, "--subresource=status", "--type=merge", "-p",
                     R"({"status":{"volumesInUse":["example.com/volume"],
                                   "daemonEndpoints":{"kubeletEndpoint":{"Port":10250}}}})"});
  // Nothing may be evicted, so that the node stays while it is marked.
  cluster().apply(
      "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: worn}\n"
      "spec: {maxUnavailable: 0, selector: {matchLabels: {app: worn}}}\n");
  cluster().kubectl({"delete", "node", name, "--wait=false"});
  cluster().wait("the node is marked", seconds(30), [&] {
    return json::serialize(stored("node", name)).find("karpenter.sh/disrupted") !=
           std::string::npos;
  });
  const auto node = stored("node", name);
  EXPECT_EQ(annotation(node, "example.com/rack"), "7");
  EXPECT_THAT(json::serialize(node.at("spec")), HasSubstr("example.com/slow"));
  EXPECT_THAT(json::serialize(node.at("status")),
              AllOf(HasSubstr("example.com/volume"), HasSubstr("\"Port\":10250")));
  cluster().kubectl({"delete", "pdb", "worn"});
  cluster().clean_up("worn", "worn");
}

}  // namespace
}  // namespace millwright::plane
