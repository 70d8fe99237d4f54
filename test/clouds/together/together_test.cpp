// `millwright controller --clouds aws,alibaba,huawei`: one process, one NodePool for each cloud,
// and each pod runs on a machine of the cloud that it asks for.
#include "clouds/support/served_cluster.hpp"
#include "millwright/model/codec.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace millwright::test {
namespace {

using std::chrono::seconds;
using testing::IsEmpty;
using testing::SizeIs;

// A NodePool of a cloud's NodeClass, and a Deployment that wants its nodes.
constexpr std::string_view kPoolAndPods = R"(
apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: {cloud}
spec:
  template:
    metadata:
      labels: {{example.com/cloud: {cloud}}}
    spec:
      nodeClassRef: {{group: {group}, kind: {kind}, name: {name}}}
      requirements:
        - {{key: kubernetes.io/arch, operator: In, values: [amd64]}}
        - {{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {cloud}
spec:
  replicas: 1
  selector:
    matchLabels: {{app: {cloud}}}
  template:
    metadata:
      labels: {{app: {cloud}}}
    spec:
      nodeSelector: {{example.com/cloud: {cloud}}}
      containers:
        - name: main
          image: registry.k8s.io/pause:3.10
          resources:
            requests: {{cpu: "1", memory: 1Gi}}
)";

struct Served {
  std::string cloud;
  std::string group;
  std::string kind;
  std::string name;
  std::string file;  // that has the NodeClass
};

const Served kServed[] = {
    {"aws", "karpenter.k8s.aws", "EC2NodeClass", "default", "aws-nodeclass.yaml"},
    {"alibaba", "karpenter.k8s.alibabacloud", "ECSNodeClass", "defaultnodeclass",
     "alibaba-nodeclass.yaml"},
    {"huawei", "karpenter.k8s.huawei", "CCENodeClass", "demo-cce-elastic-cpu",
     "huawei-cpu-elastic.yaml"}};

TEST(CloudsTogether, EachPodRunsOnTheCloudThatItAsksFor) {
  const std::vector<Peer> peers{aws_peer(), alibaba_peer(), huawei_peer()};
  for (const auto& peer : peers) {
    if (peer.url.empty()) {
      GTEST_SKIP() << "run by scripts/test clouds";
    }
  }
  ServedCluster cluster(peers);
  const auto started = cluster.start();
  ASSERT_TRUE(started) << started.error().message;
  for (const auto& served : kServed) {
    auto applied = cluster.apply_file(served.file);
    ASSERT_TRUE(applied) << applied.error().message;
    applied =
        cluster.apply(fmt::format(fmt::runtime(kPoolAndPods), fmt::arg("cloud", served.cloud),
                                  fmt::arg("group", served.group), fmt::arg("kind", served.kind),
                                  fmt::arg("name", served.name)));
    ASSERT_TRUE(applied) << applied.error().message;
  }
  // Long, since the EC2 of the peer server takes many seconds of a busy machine for its types.
  ASSERT_TRUE(cluster.wait(seconds(300), [&] { return cluster.running() == 3; })) << cluster.said();

  EXPECT_THAT(cluster.machines(), SizeIs(3));
  std::map<std::string, std::string> prefixes{
      {"aws", "aws:///us-west-2"}, {"alibaba", "cn-hangzhou.i-"}, {"huawei", "0000"}};
  for (const auto& node : cluster.list(model::kNodeResource)) {
    const auto meta = model::decode_meta(node);
    ASSERT_TRUE(meta);
    const auto cloud = std::string(meta->label("example.com/cloud"));
    EXPECT_TRUE(model::text_at(node, "spec.providerID").starts_with(prefixes.at(cloud)))
        << meta->name;
    prefixes.erase(cloud);
  }
  EXPECT_THAT(prefixes, IsEmpty()) << "clouds without a node";

  EXPECT_TRUE(cluster.give_back(
      seconds(120),
      {model::kEc2NodeClassResource, model::kEcsNodeClassResource, model::kCceNodeClassResource}))
      << cluster.said();
  EXPECT_THAT(cluster.problems(), IsEmpty()) << cluster.said();
}

}  // namespace
}  // namespace millwright::test
