// The program starts anew while a node is going, and the API server answers its first lists late,
// each at another time. Whatever it hears first, it must not take a node for empty whose pods or
// claim it has not heard of yet.
#include "aws_cluster.hpp"
#include "millwright/cluster/watched_kinds.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace millwright {
namespace {

constexpr auto kLate = 25s;  // less than the time limit of a call

// A cluster with a node that pods run on, whose instance must not end before they are gone.
class ColdCluster : protected AwsCluster {
 protected:
  explicit ColdCluster(std::uint64_t seed) : AwsCluster(seed) {
    apply(kNodeClass);
    apply(kNodePool);
    apply(kDeployment);
    loop.run_for(5min);
    ec2.on_termination = [this](const FakeEc2::Machine& made) {
      EXPECT_EQ(pods_left_on("node-" + made.id, loop.now()), 0) << "the instance ends undrained";
      shut_down(made.id);
    };
    watch_everything();
  }

  // Kinds that only a feature needs are listed, too, when the program starts anew.
  void watch_everything() {
    program_options.node_overlay = true;
    program_options.capacity_buffer = true;
    program_options.solve.resource_claims = true;
    const model::TopologySpreadConstraint loose{.max_skew = 5,
                                                .topology_key = "topology.kubernetes.io/zone",
                                                .when_unsatisfiable = "ScheduleAnyway"};
    program_options.solve.default_spread.push_back({.scheduler_name = {}, .constraints = {loose}});
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
  void remove_claim_of(const sandbox::NodeHistory& node) {
    ASSERT_EQ(node.last->meta.owner_references.size(), 1U);
    remove(model::kNodeClaimResource, node.last->meta.owner_references.front().name);
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

// Every list comes late, each at another time.
class ColdStart : public testing::TestWithParam<std::uint64_t>, protected ColdCluster {
 protected:
  ColdStart() : ColdCluster(GetParam()) {}

  void start_with_late_lists() {
    world.api().set_faults({.list_delay = 30s});
    start_program();
  }
};

TEST_P(ColdStart, ADeletedClaimsNodeIsDrained) {
  const auto& node = node_with_pods();
  crash();
  remove_claim_of(node);
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

// One list comes long after all others: nothing is begun before it.
class ColdStartWithout : public testing::TestWithParam<std::string>, protected ColdCluster {
 protected:
  ColdStartWithout() : ColdCluster(1) {}

  void start_with_one_late_list() {
    world.api().set_faults({.late_lists = {{GetParam(), kLate}}});
    start_program();
  }
  void expect_nothing_begun(const sandbox::NodeHistory& node) {
    const std::string name = node.last->meta.name;  // `last` is replaced by each event
    const int pods = pods_left_on(name, loop.now());
    const auto instances = ec2.living().size();
    loop.run_for(kLate - 1s);
    EXPECT_FALSE(node.disrupted) << "its drain began";
    EXPECT_FALSE(node.gone);
    EXPECT_EQ(pods_left_on(name, loop.now()), pods);
    EXPECT_EQ(ec2.living().size(), instances);
  }
};

TEST_P(ColdStartWithout, ADeletedClaimWaits) {
  const auto& node = node_with_pods();
  crash();
  remove_claim_of(node);
  start_with_one_late_list();
  expect_nothing_begun(node);
  expect_drained_end(node);
}

TEST_P(ColdStartWithout, ADeletedNodeWaits) {
  const auto& node = node_with_pods();
  crash();
  remove(model::kNodeResource, node.last->meta.name);
  start_with_one_late_list();
  expect_nothing_begun(node);
  expect_drained_end(node);
}

// From the list that the program itself reads: a new kind is in it.
std::vector<std::string> watched_resources() {
  std::set<std::string> plurals{std::string(model::kEc2NodeClassResource.plural)};
  cluster::for_each_watched_kind([&](const auto& kind) {
    for (const model::Resource& resource : kind.resources) {
      plurals.emplace(resource.plural);
    }
  });
  return {plurals.begin(), plurals.end()};
}

INSTANTIATE_TEST_SUITE_P(Resources, ColdStartWithout, testing::ValuesIn(watched_resources()),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace millwright
