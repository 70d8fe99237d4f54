// `millwright controller --clouds alibaba` serves a user's manifests with spot instances of the ECS
// that test/alibaba/facade.py plays, and gives them all back; classes of both groups.
#include "clouds/support/served_cluster.hpp"
#include "millwright/model/codec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace millwright::test {
namespace {

using std::chrono::seconds;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

// The user's own, a class, a pool and a Deployment of one pod.
void start_with_manifests(ServedCluster& cluster) {
  const auto started = cluster.start();
  ASSERT_TRUE(started) << started.error().message;
  for (const auto* file :
       {"alibaba-nodeclass.yaml", "alibaba-nodepool.yaml", "alibaba-inflate.yaml"}) {
    const auto applied = cluster.apply_file(file);
    ASSERT_TRUE(applied) << applied.error().message;
  }
}

TEST(AlibabaProgram, BuysForTheManifestsAndReturnsWhatItBought) {
  const auto peer = alibaba_peer();
  if (peer.url.empty()) {
    GTEST_SKIP() << "run by scripts/test alibaba";
  }
  ServedCluster cluster({peer});
  start_with_manifests(cluster);
  ASSERT_FALSE(testing::Test::HasFatalFailure());
  ASSERT_TRUE(cluster.wait(seconds(90), [&] { return cluster.running() == 1; })) << cluster.said();

  const auto machines = cluster.machines();
  const auto nodes = cluster.list(model::kNodeResource);
  ASSERT_THAT(machines, SizeIs(1)) << cluster.said();
  ASSERT_THAT(nodes, SizeIs(1));
  EXPECT_EQ(model::text_at(nodes[0], "spec.providerID"), machines[0].instance.provider_id);
  const auto meta = model::decode_meta(nodes[0]);
  ASSERT_TRUE(meta);
  EXPECT_EQ(meta->label(model::kNodePoolLabel), "ecsnodepool");
  EXPECT_EQ(meta->label(model::kCapacityTypeLabel), model::kSpot);
  EXPECT_THAT(meta->label(model::kInstanceTypeLabel), StartsWith("ecs."));
  // The kubelet was told so by the user data.
  EXPECT_EQ(machines[0].instance.labels.at("ack.aliyun.com"), "c0123456789abcdef");

  const auto classes = cluster.list(model::kEcsNodeClassResource);
  ASSERT_THAT(classes, SizeIs(1));
  const auto of = model::decode_meta(classes[0]);
  ASSERT_TRUE(of);
  EXPECT_TRUE(of->has_finalizer("karpenter.k8s.alibabacloud/termination"));
  EXPECT_NE(of->annotation("karpenter.k8s.alibabacloud/ecsnodeclass-hash"), "");

  EXPECT_TRUE(cluster.give_back(seconds(90), {model::kEcsNodeClassResource})) << cluster.said();
  EXPECT_THAT(cluster.problems(), IsEmpty()) << cluster.said();
}

TEST(AlibabaProgram, ServesBothKindsOfClassesUnderOneName) {
  const auto peer = alibaba_peer();
  if (peer.url.empty()) {
    GTEST_SKIP() << "run by scripts/test alibaba";
  }
  ServedCluster cluster({peer});
  start_with_manifests(cluster);
  ASSERT_FALSE(testing::Test::HasFatalFailure());
  const auto applied = cluster.apply_file("alibaba-official.yaml");
  ASSERT_TRUE(applied) << applied.error().message;
  ASSERT_TRUE(cluster.wait(seconds(90), [&] { return cluster.running() == 2; })) << cluster.said();

  std::map<std::string, model::ObjectMeta> nodes;  // by pool
  for (const auto& node : cluster.list(model::kNodeResource)) {
    const auto meta = model::decode_meta(node);
    ASSERT_TRUE(meta);
    nodes[meta->label(model::kNodePoolLabel)] = *meta;
  }
  ASSERT_THAT(nodes, SizeIs(2)) << cluster.said();
  constexpr const char* kFirstLabel = "karpenter.k8s.alibabacloud/ecsnodeclass";
  constexpr const char* kOfficialLabel = "karpenter.alibabacloud.com/ecsnodeclass";
  EXPECT_EQ(nodes["official"].label(kOfficialLabel), "defaultnodeclass");
  EXPECT_EQ(nodes["official"].label(kFirstLabel), "");
  EXPECT_NE(nodes["official"].label("node.kubernetes.io/instance-family"), "");
  EXPECT_EQ(nodes["ecsnodepool"].label(kFirstLabel), "defaultnodeclass");
  EXPECT_EQ(nodes["ecsnodepool"].label(kOfficialLabel), "");

  const auto classes = cluster.list(model::kOfficialEcsNodeClassResource);
  ASSERT_THAT(classes, SizeIs(1));
  const auto of = model::decode_meta(classes[0]);
  ASSERT_TRUE(of);
  EXPECT_TRUE(of->has_finalizer("karpenter.alibabacloud.com/termination"));
  EXPECT_NE(of->annotation("karpenter.sh/ecsnodeclass-hash"), "");
  const auto* ready = model::find_path(classes[0], "status.ready");
  EXPECT_TRUE(ready != nullptr && *ready == true) << classes[0];

  EXPECT_TRUE(cluster.give_back(
      seconds(90), {model::kEcsNodeClassResource, model::kOfficialEcsNodeClassResource}))
      << cluster.said();
  EXPECT_THAT(cluster.problems(), IsEmpty()) << cluster.said();
}

}  // namespace
}  // namespace millwright::test
