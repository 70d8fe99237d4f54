// `millwright controller --clouds huawei` serves a user's manifests with nodes of the CCE that
// test/huawei/facade.py plays, and gives them all back.
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

TEST(HuaweiProgram, BuysForTheManifestsAndReturnsWhatItBought) {
  const auto peer = huawei_peer();
  if (peer.url.empty()) {
    GTEST_SKIP() << "run by scripts/test huawei";
  }
  ServedCluster cluster({peer});
  const auto started = cluster.start();
  ASSERT_TRUE(started) << started.error().message;
  for (const auto* file : {"huawei-cpu-elastic.yaml", "huawei-cpu-burst.yaml"}) {
    const auto applied = cluster.apply_file(file);
    ASSERT_TRUE(applied) << applied.error().message;
  }
  cluster.scale("cpu-burst", 1);
  ASSERT_TRUE(cluster.wait(seconds(90), [&] { return cluster.running() == 1; })) << cluster.said();

  const auto machines = cluster.machines();
  const auto nodes = cluster.list(model::kNodeResource);
  ASSERT_THAT(machines, SizeIs(1)) << cluster.said();
  ASSERT_THAT(nodes, SizeIs(1));
  EXPECT_EQ(model::text_at(nodes[0], "spec.providerID"), machines[0].instance.provider_id);
  const auto meta = model::decode_meta(nodes[0]);
  ASSERT_TRUE(meta);
  EXPECT_EQ(meta->label(model::kNodePoolLabel), "demo-cce-elastic-cpu");
  EXPECT_THAT(meta->label(model::kInstanceTypeLabel), StartsWith("c9."));

  const auto classes = cluster.list(model::kCceNodeClassResource);
  ASSERT_THAT(classes, SizeIs(1));
  const auto of = model::decode_meta(classes[0]);
  ASSERT_TRUE(of);
  EXPECT_TRUE(of->has_finalizer("karpenter.k8s.huawei/termination"));
  EXPECT_NE(of->annotation("karpenter.k8s.huawei/ccenodeclass-hash"), "");

  EXPECT_TRUE(cluster.give_back(seconds(90), {model::kCceNodeClassResource})) << cluster.said();
  EXPECT_THAT(cluster.problems(), IsEmpty()) << cluster.said();
}

}  // namespace
}  // namespace millwright::test
