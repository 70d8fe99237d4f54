// What comes of bursts whose pods arrive one by one. Several Deployments start within seconds,
// their pods come at 5 to 500 a second; then they shrink and their nodes are put together, and at
// last every node drifts, so that every pod is evicted once and comes back under another name.
// Judged is the outcome: what was bought beside one plan for all pods, how long pods waited, and
// what an eviction cost.

#include "burst_world.hpp"
#include "support/bought.hpp"

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

// One of the Deployments of a world.
struct Burst {
  std::string name;
  int replicas = 0;
  int milli_cpu = 0;
  int mebibytes = 0;
  base::Duration start{};
};

// Drawn from the seed.
struct ArrivalWorld {
  explicit ArrivalWorld(std::uint64_t the_seed) : seed(the_seed), random(the_seed) {
    pods_per_second = draw_pods_per_second(random);
    launch = milliseconds(2000 + random.below(2000));
    boot = milliseconds(5000 + random.below(25'000));
    together = random.below(2) == 0;
    const auto count = 2 + random.below(4);
    for (std::uint64_t i = 0; i < count; ++i) {
      bursts.push_back({.name = "burst-" + std::to_string(i),
                        .replicas = static_cast<int>(5 + random.below(36)),
                        .milli_cpu = static_cast<int>(100 + 100 * random.below(30)),
                        .mebibytes = static_cast<int>(128 + 128 * random.below(64)),
                        .start = milliseconds(together ? 0 : random.below(5000))});
    }
    std::sort(bursts.begin(), bursts.end(),
              [](const Burst& a, const Burst& b) { return a.start < b.start; });
  }

  app::EmbeddedOptions options() const {
    app::EmbeddedOptions options;
    options.seed = seed;
    options.profiles = {cloud::Profile::Kwok};
    auto settings = cloud::default_settings(cloud::Profile::Kwok);
    settings.launch = {launch, launch, launch};
    settings.boot = {boot, boot, boot};
    settings.termination = {seconds(1), seconds(5), seconds(20)};
    options.settings[cloud::Profile::Kwok] = settings;
    options.world.replica_pods_per_second = pods_per_second;
    return options;
  }
  // The first pod of each Deployment comes before the first plan is made (Options::batch_idle and
  // batch_max), and says how many more there will be.
  bool is_foreseen() const { return together && pods_per_second >= 50; }
  // From the call to the cloud until the machine takes pods.
  base::Duration time_to_node() const {
    return launch + boot + sandbox::KubeletOptions{}.ready_after;
  }

  std::uint64_t seed = 0;
  base::Random random;
  double pods_per_second = 0;
  bool together = false;  // the Deployments are created at one moment
  base::Duration launch{};
  base::Duration boot{};
  std::vector<Burst> bursts;
};

struct Cost {
  Bought bought;
  Bought at_once;  // had all pods come together
};

// Over many seeds.
struct Outcome {
  Cost foreseen;                    // of worlds that are seen whole at once
  Cost others;                      // of worlds that are bought for bit by bit
  base::Duration longest{};         // that a new pod waited longer than a machine takes
  base::Duration longest_return{};  // that an evicted pod's successor waited
  std::size_t pods = 0;
  std::size_t successors = 0;
  std::size_t bought_for_successors = 0;
  std::size_t surplus = 0;
};

double in_seconds(base::Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

// The longest that a pod created since then waited to be bound.
base::Duration longest_wait(const sandbox::Recorder& recorder, base::TimePoint since) {
  base::Duration longest{};
  for (const auto& [uid, pod] : recorder.pods()) {
    if (pod.created >= since && pod.bound) {
      longest = std::max<base::Duration>(longest, *pod.bound - pod.created);
    }
  }
  return longest;
}

void arrive(VirtualCluster& cluster, const ArrivalWorld& world, Outcome& outcome) {
  const auto begin = cluster.loop.now();
  int pods = 0;
  for (const auto& burst : world.bursts) {
    cluster.loop.run_until(begin + burst.start);
    create(cluster, model::kDeploymentResource,
           deployment(burst.name, burst.replicas, burst.milli_cpu, burst.mebibytes));
    pods += burst.replicas;
  }
  const auto& recorder = cluster.cluster->world().recorder();
  const auto count = static_cast<std::size_t>(pods);
  ASSERT_TRUE(cluster.loop.run_until(
      [&] { return recorder.pods().size() >= count && all_run(recorder); }, minutes(5)))
      << "seed " << world.seed;
  outcome.pods += count;
  const auto bought = bought_in(cluster);
  const auto at_once = plan_of_all(cluster);
  EXPECT_GE(claims_for_demand(cluster), bought.claims) << "the counter has other labels";
  auto& cost = world.is_foreseen() ? outcome.foreseen : outcome.others;
  cost.bought += bought;
  cost.at_once += at_once;
  const auto beyond = longest_wait(recorder, begin) - world.time_to_node();
  outcome.longest = std::max(outcome.longest, beyond);
  std::printf("seed %llu: %d pods at %.0f/s %s: %zu claims $%.3f, at once %zu $%.3f; %+.2f s\n",
              static_cast<unsigned long long>(world.seed), pods, world.pods_per_second,
              world.together ? "together" : "apart", bought.claims, bought.price, at_once.claims,
              at_once.price, in_seconds(beyond));
}

// Nodes are put together, and then all of them replaced: no pod is new, so nothing may be bought
// but what the decisions name.
void evict(VirtualCluster& cluster, ArrivalWorld& world, Outcome& outcome) {
  const auto begin = cluster.loop.now();
  const auto claims = claims_for_demand(cluster);
  for (const auto& burst : world.bursts) {
    scale(cluster, burst.name,
          static_cast<int>(world.random.below(static_cast<std::uint64_t>(burst.replicas) + 1)));
  }
  settle(cluster);
  drift_all_nodes(cluster);
  settle(cluster);
  const auto& recorder = cluster.cluster->world().recorder();
  const auto longest = longest_wait(recorder, begin);
  const auto more = claims_for_demand(cluster) - claims;
  if (more > 0) {
    tell(world.seed, "bought for evicted pods", std::to_string(more) + " claims");
  }
  outcome.bought_for_successors += more;
  outcome.longest_return = std::max(outcome.longest_return, longest);
  const auto& pods = recorder.pods();
  outcome.successors += static_cast<std::size_t>(std::count_if(
      pods.begin(), pods.end(), [&](const auto& item) { return item.second.created >= begin; }));
}

void run_arrival(std::uint64_t seed, Outcome& outcome) {
  ArrivalWorld world(seed);
  VirtualCluster cluster(world.options());
  const SurplusWatch surplus(cluster);
  create_pool(cluster,
              kwok_pool(17,
                        "{consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 2m, "
                        "budgets: [{nodes: \"100%\"}]}"));
  cluster.loop.run_for(seconds(2));
  arrive(cluster, world, outcome);
  if (testing::Test::HasFatalFailure()) {
    return;
  }
  evict(cluster, world, outcome);
  outcome.surplus += surplus.found().size();
  EXPECT_GT(surplus.looks(), 0U) << "seed " << seed;
  for (const auto& group : surplus.found()) {
    tell(seed, "more reserved than needed", group);
  }
}

void tell_cost(const char* what, const Cost& cost) {
  std::printf("%s: %zu claims at $%.3f an hour, all at once %zu at $%.3f\n", what,
              cost.bought.claims, cost.bought.price, cost.at_once.claims, cost.at_once.price);
}

class Arrivals : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Arrivals, CostLittleMoreThanOnePlan) {
  Outcome outcome;
  const auto seeds = seeds_of(GetParam());
  for (const auto seed : seeds) {
    run_arrival(seed, outcome);
    if (HasFailure()) {
      break;
    }
  }
  tell_cost("foreseen", outcome.foreseen);
  tell_cost("bit by bit", outcome.others);
  std::printf(
      "%zu pods waited %+.2f s beyond a machine's time; %zu came back, bought for them %zu claims, "
      "waited %.2f s; %zu groups with a surplus\n",
      outcome.pods, in_seconds(outcome.longest), outcome.successors, outcome.bought_for_successors,
      in_seconds(outcome.longest_return), outcome.surplus);
  if (seeds.size() == kSeedsPerBlock) {
    EXPECT_GT(outcome.successors, 500U);
    EXPECT_GT(outcome.foreseen.at_once.claims, 0U);
  }
  // The same plan, but for one world in thirty that gets one claim more, for less.
  EXPECT_LE(outcome.foreseen.bought.claims, outcome.foreseen.at_once.claims + 2);
  EXPECT_LE(outcome.foreseen.bought.cost(), 1.001 * outcome.foreseen.at_once.cost());
  // What was bought for the first Deployment cannot be undone for the last. Blocks of 25 seeds cost
  // 1.07 to 1.12 of one plan, with 1.1 to 1.3 times its claims: a plan for few kinds of pods may
  // prefer small machines.
  EXPECT_LE(outcome.others.bought.cost(), 1.2 * outcome.others.at_once.cost());
  EXPECT_LE(outcome.others.bought.claims, 2 * outcome.others.at_once.claims);
  EXPECT_LE(outcome.longest, seconds(1));
  EXPECT_LE(outcome.longest_return, seconds(1));
  EXPECT_EQ(outcome.bought_for_successors, 0U);
  EXPECT_EQ(outcome.surplus, 0U);
}

// kube-scheduler has tried none of the second Deployment's pods when a machine is bought for the
// first, and not all of them exist; one machine does for all.
TEST(Burst, OfTwoDeploymentsSharesWhatIsBoughtForTheFirst) {
  app::EmbeddedOptions options;
  options.profiles = {cloud::Profile::Kwok};
  options.controllers.draft_idle = milliseconds(500);
  options.world.replica_pods_per_second = 3;
  options.world.scheduler.cycle_time = seconds(3);
  VirtualCluster cluster(options);
  create_pool(cluster, kwok_pool(17, "{consolidateAfter: Never}"));
  cluster.loop.run_for(seconds(2));
  create(cluster, model::kDeploymentResource, deployment("first", 1, 300, 256));
  create(cluster, model::kDeploymentResource, deployment("second", 5, 300, 256));
  const auto& recorder = cluster.cluster->world().recorder();
  ASSERT_TRUE(cluster.loop.run_until(
      [&] { return recorder.pods().size() == 6 && all_run(recorder); }, minutes(5)));
  EXPECT_EQ(recorder.claims().size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Arrivals, testing::Range(std::uint64_t{0}, kBlocks));

}  // namespace
}  // namespace millwright::test
