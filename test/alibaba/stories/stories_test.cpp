// `millwright controller --clouds alibaba` serves a user's manifests with spot instances of the ECS
// that test/alibaba/facade.py plays, and gives them all back.
#include "clouds/support/served_cluster.hpp"
#include "millwright/model/codec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::test {
namespace {

using std::chrono::seconds;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

TEST(AlibabaProgram, BuysForTheManifestsAndReturnsWhatItBought) {
  const auto peer = alibaba_peer();
  if (peer.url.empty()) {
    GTEST_SKIP() << "run by scripts/test alibaba";
  }
  ServedCluster cluster({peer});
  const auto started = cluster.start();
  ASSERT_TRUE(started) << started.error().message;
  for (const auto* file :
       {"alibaba-nodeclass.yaml", "alibaba-nodepool.yaml", "alibaba-inflate.yaml"}) {
    const auto applied = cluster.apply_file(file);
    ASSERT_TRUE(applied) << applied.error().message;
  }
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

}  // namespace
}  // namespace millwright::test
