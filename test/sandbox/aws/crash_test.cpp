// The program ends at every moment of a launch, one moment a run: after the first thing that
// happens once the NodeClaim exists, after the second, and so on past the node's registration.
// Whatever it was doing, its next life leaves one instance for each claim and none without a claim.
#include "aws_cluster.hpp"

#include <cstdlib>

namespace millwright {
namespace {

// MILLWRIGHT_CRASH_RUNS=2500 for all of them; a part of them is run by default.
constexpr int kRuns = 320;
constexpr int kMoments = 250;  // a launch and its recording take fewer

int runs() {
  const char* wanted = std::getenv("MILLWRIGHT_CRASH_RUNS");
  return wanted == nullptr ? kRuns : std::atoi(wanted);
}

struct Plan {
  int seed = 0;
  int moment = 0;            // callbacks of the loop from the claim's creation to the crash
  bool lose_answer = false;  // the fleet is made, the program never hears of it
  bool delete_claims = false;
  bool spread = false;   // one pod a node: several equal claims, launched by one call
  base::Duration lag{};  // of DescribeInstances
  base::Duration downtime{};
  std::string to_string() const {
    return "seed " + std::to_string(seed) + ", moment " + std::to_string(moment) +
           (lose_answer ? ", answer lost" : "") + (delete_claims ? ", claims deleted" : "") +
           (spread ? ", spread" : "");
  }
};

// Moments are spread evenly, whatever the number of runs; the rest is by chance.
Plan plan_of(int run, int of) {
  base::Random random(static_cast<std::uint64_t>(run) + 1);
  Plan plan;
  plan.seed = run;
  plan.moment = static_cast<int>(static_cast<std::int64_t>(run) * kMoments / of);
  plan.lose_answer = random.below(3) == 0;
  plan.delete_claims = random.below(5) == 0;
  plan.lag = std::chrono::milliseconds(random.below(4'000));
  // A new leader waits for the lease at least that long.
  plan.downtime = std::chrono::milliseconds(1'000 + random.below(120'000));
  plan.spread = random.below(2) == 0;
  return plan;
}

std::vector<boost::json::value> claims_of(AwsCluster& cluster) {
  const auto listed = cloud::wait(cluster.loop, cluster.person.list(model::kNodeClaimResource));
  return listed ? listed->items : std::vector<boost::json::value>{};
}

// True when the claim was there when the program ended.
bool crash_in_a_launch(AwsCluster& cluster, const Plan& plan) {
  cluster.apply(kNodeClass);
  cluster.apply(kNodePool);
  cluster.loop.run_for(30s);
  cluster.ec2.lag = plan.lag;
  cluster.ec2.lose_answer = plan.lose_answer;
  cluster.apply(plan.spread ? kSpreadDeployment : kDeployment);
  const bool created = cluster.loop.run_until(
      [&] { return !cluster.world.recorder().claims().empty(); }, std::chrono::minutes(1));
  int left = plan.moment;
  cluster.loop.run_until([&] { return left-- <= 0; }, std::chrono::minutes(5));
  cluster.crash();
  return created;
}

void expect_one_each(AwsCluster& cluster, const Plan& plan) {
  std::set<std::string> alive;
  for (const auto& made : cluster.ec2.living()) {
    EXPECT_TRUE(alive.insert(cloud::aws::provider_id_of(made.zone, made.id)).second);
  }
  std::set<std::string> claimed;
  for (const auto& claim : claims_of(cluster)) {
    const auto* id = model::find_path(claim, "status.providerID");
    ASSERT_NE(id, nullptr) << plan.to_string() << " " << boost::json::serialize(claim);
    EXPECT_TRUE(claimed.insert(std::string(id->as_string())).second) << plan.to_string();
  }
  EXPECT_EQ(alive, claimed) << plan.to_string();
  EXPECT_EQ(cluster.running_pods(), 5U) << plan.to_string();
  // Nor was more bought, even for a while, than there were ever claims.
  EXPECT_LE(cluster.ec2.machines.size(), cluster.world.recorder().claims().size())
      << plan.to_string();
}

TEST(AwsCrash, AtEveryMomentOfALaunchLeavesOneInstancePerClaim) {
  const int of = runs();
  int before_launch = 0;
  int after_launch = 0;
  int merged = 0;
  for (int run = 0; run < of && !testing::Test::HasFailure(); ++run) {
    const auto plan = plan_of(run, of);
    AwsCluster cluster(static_cast<std::uint64_t>(run) * 100 + 1);
    ASSERT_TRUE(crash_in_a_launch(cluster, plan)) << plan.to_string();
    (cluster.ec2.machines.empty() ? before_launch : after_launch) += 1;
    cluster.loop.run_for(plan.downtime);
    if (plan.delete_claims) {
      for (const auto& claim : claims_of(cluster)) {
        const auto meta = model::decode_meta(claim);
        EXPECT_TRUE(cloud::wait(
            cluster.loop, cluster.person.remove(model::kNodeClaimResource, model::key_of(*meta))));
      }
    }
    cluster.start_program();
    cluster.loop.run_for(8min);
    expect_one_each(cluster, plan);
    const auto calls = cluster.ec2.aws.calls("CreateFleet");
    merged += std::any_of(calls.begin(), calls.end(), [](const Asked& asked) {
      return asked.field("TargetCapacitySpecification.TotalTargetCapacity") != "1";
    });
  }
  std::printf("crashed %d times before an instance existed, %d times after\n", before_launch,
              after_launch);
  EXPECT_GT(merged, of / 4);
  EXPECT_GT(before_launch, of / 50);
  EXPECT_GT(after_launch, of / 10);
}

}  // namespace
}  // namespace millwright
