// The program starts anew while a node is going, and the API server answers its first lists late,
// each at another time. Whatever it hears first, it must not take a node for empty whose pods or
// claim it has not heard of yet.
#include "aws_cluster.hpp"

#include <algorithm>
#include <stdexcept>

namespace millwright {
namespace {

class ColdStart : public testing::TestWithParam<std::uint64_t>, protected AwsCluster {
 protected:
  ColdStart() : AwsCluster(GetParam()) {
    apply(kNodeClass);
    apply(kNodePool);
    apply(kDeployment);
    loop.run_for(5min);
    ec2.on_termination = [this](const FakeEc2::Machine& made) {
      EXPECT_EQ(pods_left_on("node-" + made.id, loop.now()), 0) << "the instance ends undrained";
      shut_down(made.id);
    };
  }

  // How many pods that were ever bound there were not over at that time.
  int pods_left_on(const std::string& node, base::TimePoint when) {
    int left = 0;
    for (const auto& [uid, pod] : world.recorder().pods()) {
      const bool was_over = pod.gone && *pod.gone <= when;
      left += pod.last->spec.node_name == node && !was_over ? 1 : 0;
    }
    return left;
  }
  const sandbox::NodeHistory& node_with_pods() {
    for (const auto& [uid, node] : world.recorder().nodes()) {
      if (pods_left_on(node.last->meta.name, loop.now()) > 0) {
        return node;
      }
    }
    throw std::runtime_error("no pod runs");
  }
  void remove(const model::Resource& resource, const std::string& name) {
    const auto removed = world.api().remove(resource, {.namespace_ = {}, .name = name});
    ASSERT_TRUE(removed) << removed.error().message;
  }
  void start_with_late_lists() {
    world.api().set_faults({.list_delay = 30s});
    start_program();
  }
  void expect_drained_end(const sandbox::NodeHistory& node) {
    ASSERT_TRUE(loop.run_until([&] { return node.gone.has_value(); }, 10min));
    EXPECT_EQ(pods_left_on(node.last->meta.name, *node.gone), 0) << "the Node went undrained";
    loop.run_for(5min);
    world.api().set_faults({});
    EXPECT_EQ(running_pods(), 5U);
    EXPECT_EQ(count(model::kNodeClaimResource), ec2.living().size());
  }
};

TEST_P(ColdStart, ADeletedClaimsNodeIsDrained) {
  const auto& node = node_with_pods();
  crash();
  ASSERT_EQ(node.last->meta.owner_references.size(), 1U);
  remove(model::kNodeClaimResource, node.last->meta.owner_references.front().name);
  start_with_late_lists();
  expect_drained_end(node);
}

TEST_P(ColdStart, ADeletedNodeIsDrained) {
  const auto& node = node_with_pods();
  crash();
  remove(model::kNodeResource, node.last->meta.name);
  start_with_late_lists();
  expect_drained_end(node);
}

// Before its NodeClass is listed the claim would be given up, since it could not be launched.
TEST_P(ColdStart, AClaimThatIsNotLaunchedIsKept) {
  const auto scaled = world.api().update(
      model::kDeploymentResource, {.namespace_ = "default", .name = "web"},
      [](boost::json::value& object) { object.at("spec").as_object()["replicas"] = 30; });
  ASSERT_TRUE(scaled) << scaled.error().message;
  ASSERT_TRUE(loop.run_until(
      [&] {
        const auto& claims = world.recorder().claims();
        return std::any_of(claims.begin(), claims.end(),
                           [](const auto& each) { return !each.second.launched; });
      },
      5min));
  crash();
  start_with_late_lists();
  loop.run_for(5min);
  for (const auto& [uid, claim] : world.recorder().claims()) {
    EXPECT_FALSE(claim.deleting) << claim.last->meta.name;
    EXPECT_TRUE(claim.launched) << claim.last->meta.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ColdStart, testing::Range(std::uint64_t{1}, std::uint64_t{9}));

}  // namespace
}  // namespace millwright
