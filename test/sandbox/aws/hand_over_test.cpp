// A cluster passes from Karpenter to Millwright and back. Karpenter is what it leaves in the
// cluster: its annotations, with hashes that its own library gives (test/nodeclass).
#include "aws_cluster.hpp"
#include "millwright/model/meta.hpp"

namespace millwright {
namespace {

// One of test/data/aws/node_class_hashes.json.
constexpr std::string_view kClassInBoth = R"(
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: node-role
  amiFamily: AL2023
  amiSelectorTerms: [{id: ami-amd}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: demo}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: demo}}]
  metadataOptions:
    httpEndpoint: enabled
    httpProtocolIPv6: disabled
    httpPutResponseHopLimit: 1
    httpTokens: required
)";
constexpr std::string_view kV5 = "9256495999969595767";
constexpr std::string_view kV6 = "4535323214082717489";
constexpr std::string_view kHash = "karpenter.k8s.aws/ec2nodeclass-hash";
constexpr std::string_view kVersion = "karpenter.k8s.aws/ec2nodeclass-hash-version";

class HandOver : public testing::Test, protected AwsCluster {
 protected:
  // Five pods on nodes, and no removal whatever drifts.
  HandOver() {
    apply(kClassInBoth);
    apply(std::string(kNodePool).replace(kNodePool.find("30s}"), 4,
                                         "30s, budgets: [{nodes: \"0\"}]}"));
    apply(kDeployment);
    loop.run_for(7min);
    EXPECT_EQ(running_pods(), 5U);
    EXPECT_FALSE(claims().empty());
  }

  std::vector<boost::json::value> claims() {
    const auto listed = cloud::wait(loop, person.list(model::kNodeClaimResource));
    return listed ? listed->items : std::vector<boost::json::value>{};
  }
  static std::string stamp_of(const boost::json::value& object) {
    const auto meta = model::decode_meta(object);
    return meta->annotation(kVersion) + " " + meta->annotation(kHash);
  }
  void annotate(const model::Resource& resource, const std::string& name, std::string_view version,
                std::string_view hash) {
    const model::ObjectKey key{.namespace_ = "", .name = name};
    const auto written = world.api().update(resource, key, [&](boost::json::value& object) {
      auto& metadata = object.at("metadata").as_object();
      auto& annotations = metadata["annotations"];
      if (!annotations.is_object()) {
        annotations = boost::json::object{};
      }
      annotations.as_object()[kVersion] = std::string(version);
      annotations.as_object()[kHash] = std::string(hash);
    });
    EXPECT_TRUE(written) << written.error().message;
  }
  // As if Karpenter had led: the class and all claims have its hash.
  void karpenter_led(std::string_view version, std::string_view hash) {
    annotate(model::kEc2NodeClassResource, "default", version, hash);
    for (const auto& claim : claims()) {
      annotate(model::kNodeClaimResource, std::string(model::text_at(claim, "metadata.name")),
               version, hash);
    }
  }
  void edit_class() {
    const model::ObjectKey key{.namespace_ = "", .name = "default"};
    const auto edited =
        world.api().update(model::kEc2NodeClassResource, key, [](boost::json::value& object) {
          object.at("spec").as_object()["tags"] = boost::json::object{{"team", "blue"}};
        });
    ASSERT_TRUE(edited) << edited.error().message;
  }
  void expect_everywhere(std::string_view version, std::string_view hash) {
    const std::string wanted = std::string(version) + " " + std::string(hash);
    EXPECT_EQ(stamp_of(get(model::kEc2NodeClassResource, "default")), wanted);
    for (const auto& claim : claims()) {
      EXPECT_EQ(stamp_of(claim), wanted);
    }
  }
  void expect_drifted(std::string_view condition_status) {
    for (const auto& claim : claims()) {
      EXPECT_EQ(condition(claim, "Drifted"), condition_status) << boost::json::serialize(claim);
    }
  }
  std::size_t forgiven_changes() {
    const auto listed = cloud::wait(loop, person.list(model::kEventResource));
    std::size_t found = 0;
    for (const auto& event : listed->items) {
      found += model::text_at(event, "reason") == "HashVersionChanged" ? 1 : 0;
    }
    return found;
  }
};

TEST_F(HandOver, WhatMillwrightWritesIsWhatKarpenterWouldWrite) {
  expect_everywhere("v6", kV6);
  expect_drifted("absent");
}

TEST_F(HandOver, FromV6NobodyDriftsAndAnEditDriftsAll) {
  crash();
  karpenter_led("v6", kV6);
  loop.run_for(1min);
  start_program();
  loop.run_for(10min);
  expect_everywhere("v6", kV6);
  expect_drifted("absent");
  edit_class();
  loop.run_for(1min);
  expect_drifted("True");
}

TEST_F(HandOver, FromV6AnEditThatNobodySawDriftsAll) {
  crash();
  karpenter_led("v6", kV6);
  edit_class();
  start_program();
  loop.run_for(6min);
  expect_drifted("True");
}

TEST_F(HandOver, FromV5NobodyDriftsAndAnEditDriftsAll) {
  crash();
  karpenter_led("v5", kV5);
  loop.run_for(1min);
  start_program();
  loop.run_for(10min);
  expect_everywhere("v6", kV6);
  expect_drifted("absent");
  EXPECT_EQ(forgiven_changes(), 0U);
  edit_class();
  loop.run_for(1min);
  expect_drifted("True");
}

TEST_F(HandOver, FromV5AnEditThatNobodySawIsForgivenAndTold) {
  crash();
  karpenter_led("v5", kV5);
  edit_class();
  start_program();
  loop.run_for(6min);
  expect_drifted("absent");
  EXPECT_EQ(forgiven_changes(), 1U);
}

// What Karpenter calls drifted stays so, though nobody can tell any more why.
TEST_F(HandOver, FromV5ADriftedClaimStaysDrifted) {
  edit_class();
  loop.run_for(1min);
  expect_drifted("True");
  crash();
  karpenter_led("v5", "1");
  annotate(model::kEc2NodeClassResource, "default", "v5", kV5);
  start_program();
  loop.run_for(10min);
  expect_drifted("True");
  for (const auto& claim : claims()) {
    EXPECT_EQ(stamp_of(claim), "v6 1");
  }
}

// A version that does not exist yet, too: of a Karpenter that is newer than this program.
TEST_F(HandOver, FromAnUnknownVersionNobodyDrifts) {
  crash();
  karpenter_led("v99", "1");
  start_program();
  loop.run_for(10min);
  expect_everywhere("v6", kV6);
  expect_drifted("absent");
}

// Karpenter compares the hash on the class with those on the claims, v6 as it finds them; one with
// another version stamps all of them anew, as Millwright does.
TEST_F(HandOver, BackAndThereAgain) {
  crash();
  expect_everywhere("v6", kV6);
  karpenter_led("v5", kV5);
  loop.run_for(5min);
  start_program();
  loop.run_for(10min);
  expect_everywhere("v6", kV6);
  expect_drifted("absent");
}

}  // namespace
}  // namespace millwright
