// Promises 1 and 2 under random load: bursts of Deployments that come, grow, shrink and go, their
// pods at 5 to 500 a second, stray small pods in between, a late watch in a third of the runs; each
// seed a whole virtual cluster.

#include "burst_world.hpp"
#include "millwright/cluster/ledger.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

namespace millwright::test {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// Taints and readiness of a node take so long to pass, late watches included.
constexpr auto kTimeToBind = seconds(15);

json::value stray_pod(const std::string& name) {
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", {{"name", name}, {"namespace", "default"}, {"labels", {{"app", "stray"}}}}},
          {"spec", {{"containers", container(50, 32)}}}};
}

app::EmbeddedOptions options_for(std::uint64_t seed) {
  app::EmbeddedOptions options;
  options.seed = seed;
  options.profiles = {cloud::Profile::Kwok};
  auto settings = cloud::default_settings(cloud::Profile::Kwok);
  settings.launch = {milliseconds(200), seconds(2), seconds(6)};
  settings.boot = {seconds(5), seconds(20), seconds(60)};
  settings.termination = {seconds(1), seconds(5), seconds(20)};
  options.settings[cloud::Profile::Kwok] = settings;
  if (seed % 3 == 0) {
    options.world.api.faults.watch_delay = seconds(2);
  }
  base::Random random(seed ^ 0xa11);  // not that of the load
  options.world.replica_pods_per_second = draw_pods_per_second(random);
  return options;
}

// The random load of one run: about ten minutes of it.
class Load {
 public:
  Load(VirtualCluster& cluster, std::uint64_t seed) : cluster_(cluster), random_(seed) {}

  void run() {
    for (int step = 0; step < 40; ++step) {
      act();
      cluster_.loop.run_for(milliseconds(random_.below(30'000)));
    }
  }

  void end() {
    for (int i = 0; i < made_; ++i) {
      scale(cluster_, "burst-" + std::to_string(i), 0);
    }
  }

 private:
  void act() {
    const auto dice = random_.below(10);
    if (dice < 4) {
      ++strays_;
      create(cluster_, model::kPodResource, stray_pod("stray-" + std::to_string(strays_)));
    } else if (dice < 7 || made_ == 0) {
      create(cluster_, model::kDeploymentResource,
             deployment("burst-" + std::to_string(made_), static_cast<int>(1 + random_.below(25)),
                        static_cast<int>(100 + 100 * random_.below(30)),
                        static_cast<int>(128 + 128 * random_.below(32))));
      ++made_;
    } else {
      scale(cluster_, "burst-" + std::to_string(random_.below(static_cast<std::uint64_t>(made_))),
            static_cast<int>(random_.below(20)));
    }
  }

  VirtualCluster& cluster_;
  base::Random random_;
  int made_ = 0;
  int strays_ = 0;
};

struct Counts {
  std::size_t planned = 0;
  std::size_t elsewhere = 0;
  std::size_t nodes_gone = 0;
  std::size_t died_unused = 0;
  std::size_t bound_after_fence = 0;
  std::size_t surplus = 0;  // groups for which more was reserved than they needed
};

std::vector<scheduling::Reservation> bought_for(const model::NodeClaim& claim) {
  return cluster::decode_reservations(claim.meta.annotation(model::kReservationsAnnotation),
                                      claim.meta.name)
      .value_or(std::vector<scheduling::Reservation>{});
}

void count_claims(sandbox::Recorder& recorder, Counts& counts) {
  for (const auto& [uid, claim] : recorder.claims()) {
    for (const auto& reservation : bought_for(*claim.last)) {
      counts.planned += static_cast<std::size_t>(reservation.count);
    }
  }
}

// nullptr when there was none.
const sandbox::ClaimRecord* claim_of(sandbox::Recorder& recorder,
                                     const sandbox::NodeHistory& node) {
  const auto own = std::find_if(
      recorder.claims().begin(), recorder.claims().end(),
      [&](const auto& item) { return item.second.last->node_name == node.last->meta.name; });
  return own == recorder.claims().end() ? nullptr : &own->second;
}

// Once the node was Ready, a pod of a group that it was bought for waited on, and ran elsewhere.
// Not when pods of the group went away unbound: then fewer nodes are needed than were bought.
bool was_wanted(sandbox::Recorder& recorder, const sandbox::NodeHistory& node) {
  const auto* own = claim_of(recorder, node);
  if (own == nullptr || !node.ready) {
    return false;
  }
  for (const auto& reservation : bought_for(*own->last)) {
    bool waited = false;
    bool shrank = false;
    for (const auto& [uid, pod] : recorder.pods()) {
      if (scheduling::group_of(*pod.last) == reservation.group) {
        waited = waited || (pod.created < *node.ready && pod.bound &&
                            *pod.bound > *node.ready + kTimeToBind && *pod.bound < *node.gone);
        shrank = shrank || (!pod.bound && pod.gone && *pod.gone > own->created);
      }
    }
    if (waited && !shrank) {
      return true;
    }
  }
  return false;
}

// When the node was closed to new pods: to the microsecond, where its claim tells of a fence.
std::optional<base::TimePoint> closed_at(sandbox::Recorder& recorder,
                                         const sandbox::NodeHistory& node) {
  const auto* own = claim_of(recorder, node);
  if (own != nullptr) {
    const auto fence = cluster::decode_fence(own->last->meta.annotation(model::kFenceAnnotation),
                                             node.last->meta.name);
    if (fence) {
      return fence->since;
    }
  }
  return node.disrupted;
}

void count_nodes(sandbox::Recorder& recorder, std::uint64_t seed, Counts& counts) {
  for (const auto& [uid, node] : recorder.nodes()) {
    if (!node.gone) {
      continue;
    }
    ++counts.nodes_gone;
    if (node.pods_ever == 0 && was_wanted(recorder, node)) {
      ++counts.died_unused;
      tell(seed, "died unused", node.last->meta.name);
    }
    const auto closed = closed_at(recorder, node);
    for (const auto& [pod_uid, pod] : recorder.pods()) {
      if (closed && pod.bound && *pod.bound > *closed &&
          pod.last->spec.node_name == node.last->meta.name) {
        ++counts.bound_after_fence;
        tell(seed, "bound after the fence", pod.last->meta.name);
      }
    }
  }
}

// Types of every size.
std::string pool_manifest() {
  return kwok_pool(1000,
                   "{consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 20s, "
                   "budgets: [{nodes: \"100%\"}]}");
}

void run_seed(std::uint64_t seed, Counts& counts) {
  VirtualCluster cluster(options_for(seed));
  const SurplusWatch surplus(cluster);
  create_pool(cluster, pool_manifest());
  Load load(cluster, seed);
  load.run();
  cluster.loop.run_for(minutes(5));
  auto& recorder = cluster.cluster->world().recorder();
  // Consolidation may move pods at any one moment, but each arrives.
  EXPECT_TRUE(cluster.loop.run_until([&] { return all_run(recorder); }, minutes(10)))
      << "seed " << seed;
  load.end();
  cluster.loop.run_for(minutes(10));
  count_claims(recorder, counts);
  const auto elsewhere = cluster.cluster->engine().state().placed_elsewhere();
  if (elsewhere > 0) {
    tell(seed, "not where their room was", std::to_string(elsewhere) + " pods");
  }
  counts.elsewhere += elsewhere;
  count_nodes(recorder, seed, counts);
  for (const auto& group : surplus.found()) {
    ++counts.surplus;
    tell(seed, "more reserved than needed", group);
  }
}

class Bursts : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Bursts, EveryPlanIsKept) {
  Counts counts;
  const auto seeds = seeds_of(GetParam());
  for (const auto seed : seeds) {
    run_seed(seed, counts);
    if (HasFailure()) {
      break;
    }
  }
  std::printf(
      "%zu planned pods, %zu elsewhere; %zu nodes gone, %zu unused; %zu late binds; %zu groups "
      "with "
      "a surplus\n",
      counts.planned, counts.elsewhere, counts.nodes_gone, counts.died_unused,
      counts.bound_after_fence, counts.surplus);
  if (seeds.size() == kSeedsPerBlock) {
    EXPECT_GT(counts.planned, 1000U);
    EXPECT_GT(counts.nodes_gone, 100U);
  }
  EXPECT_EQ(counts.elsewhere, 0U);
  EXPECT_EQ(counts.died_unused, 0U);
  EXPECT_EQ(counts.bound_after_fence, 0U);
  EXPECT_EQ(counts.surplus, 0U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Bursts, testing::Range(std::uint64_t{0}, kBlocks));

bool any_closed(sandbox::Recorder& recorder) {
  const auto& nodes = recorder.nodes();
  return std::any_of(nodes.begin(), nodes.end(), [](const auto& item) {
    const auto& node = *item.second.last;
    return !item.second.gone && !node.meta.is_deleting() &&
           std::any_of(node.taints.begin(), node.taints.end(),
                       [](const auto& taint) { return taint.key == model::kDisruptedTaint; });
  });
}

// A third of all writes loses against somebody else's, those that reopen a node included.
TEST(Burst, OfConflictsLeavesNoNodeClosed) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    auto options = options_for(seed);
    options.world.api.faults.conflict_rate = 0.33;
    VirtualCluster cluster(options);
    create_pool(cluster, pool_manifest());
    Load load(cluster, seed);
    load.run();
    auto& recorder = cluster.cluster->world().recorder();
    EXPECT_TRUE(cluster.loop.run_until([&] { return all_run(recorder); }, minutes(30))) << seed;
    // Consolidation closes nodes and then deletes them, now this one, now that; one that nobody
    // reopens would stay closed.
    EXPECT_TRUE(cluster.loop.run_until([&] { return !any_closed(recorder); }, minutes(40)))
        << "seed " << seed;
  }
}

TEST(Burst, OfOneDeploymentIsPlannedAsOne) {
  VirtualCluster cluster(options_for(1));
  create_pool(cluster, pool_manifest());
  cluster.loop.run_for(seconds(10));
  const auto created = cluster.cluster->world().api().create(model::kDeploymentResource,
                                                             deployment("burst", 60, 500, 512));
  ASSERT_TRUE(created) << created.error().message;
  auto& recorder = cluster.cluster->world().recorder();
  ASSERT_TRUE(cluster.loop.run_until(
      [&] { return recorder.pods().size() == 60 && all_run(recorder); }, minutes(5)));
  EXPECT_LE(recorder.claims().size(), 3U);
}

TEST(Burst, OfBarePodsBuysNothingMoreWhileTheirNodeIsReplaced) {
  VirtualCluster cluster(options_for(1));
  create_pool(cluster, pool_manifest());
  auto& api = cluster.cluster->world().api();
  auto& recorder = cluster.cluster->world().recorder();
  const auto await_running = [&](std::size_t pods) {
    return cluster.loop.run_until(
        [&] { return recorder.pods().size() == pods && all_run(recorder); }, minutes(5));
  };
  ASSERT_TRUE(api.create(model::kDeploymentResource, deployment("burst", 15, 1000, 512)));
  ASSERT_TRUE(await_running(15));
  for (int i = 0; i < 5; ++i) {  // into the room that is left
    ASSERT_TRUE(api.create(model::kPodResource, stray_pod("stray-" + std::to_string(i))));
  }
  ASSERT_TRUE(await_running(20));
  const std::size_t bought = recorder.claims().size();
  ASSERT_TRUE(
      api.update(model::kDeploymentResource, {.namespace_ = "default", .name = "burst"},
                 [](json::value& object) { object.at("spec").as_object()["replicas"] = 1; }));
  cluster.loop.run_for(minutes(15));
  EXPECT_GT(recorder.claims().size(), bought) << "nothing was replaced";
  EXPECT_LE(recorder.claims().size(), bought + 2);
}

}  // namespace
}  // namespace millwright::test
