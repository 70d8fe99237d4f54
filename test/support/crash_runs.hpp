// The program ends at every moment of a launch, one moment a run: after the first thing that
// happens once a NodeClaim exists, after the second, and so on past the node's registration.
// Whatever it was doing, its next life leaves one machine for each claim and none without a claim.
// The same runs for every cloud.
#pragma once

#include "support/program_cluster.hpp"

#include <boost/json/serialize.hpp>

#include <cstdlib>
#include <set>

namespace millwright {

struct CrashPlan {
  int seed = 0;
  int moment = 0;            // callbacks of the loop from the claim's creation to the crash
  bool lose_answer = false;  // the machine is made, the program never hears of it
  bool delete_claims = false;
  bool spread = false;   // one pod a node: several equal claims
  base::Duration lag{};  // until the cloud's lists show a new machine
  base::Duration downtime{};
  std::string to_string() const {
    return "seed " + std::to_string(seed) + ", moment " + std::to_string(moment) +
           (lose_answer ? ", answer lost" : "") + (delete_claims ? ", claims deleted" : "") +
           (spread ? ", spread" : "");
  }
};

// A cluster that such runs are made in.
class CrashCluster : public ProgramCluster {
 public:
  using ProgramCluster::ProgramCluster;
  // Provider ids of the machines that run.
  virtual std::multiset<std::string> living_machines() = 0;
  // Machines that there ever were.
  virtual std::size_t made_machines() = 0;
  // From now on the cloud behaves as planned.
  virtual void prepare(const CrashPlan& plan) = 0;
  // A NodeClass and a NodePool.
  virtual std::vector<std::string> manifests() = 0;
};

struct CrashCount {
  int before_launch = 0;  // crashes before a machine existed
  int after_launch = 0;
};

// MILLWRIGHT_CRASH_RUNS overrides the number.
inline int crash_runs(int usual) {
  const char* wanted = std::getenv("MILLWRIGHT_CRASH_RUNS");
  return wanted == nullptr ? usual : std::atoi(wanted);
}

namespace crash_runs_detail {

inline constexpr int kMoments = 250;  // a launch and its recording take fewer

// Moments are spread evenly, whatever the number of runs; the rest is by chance.
inline CrashPlan plan_of(int run, int of) {
  base::Random random(static_cast<std::uint64_t>(run) + 1);
  CrashPlan plan;
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

inline std::vector<boost::json::value> claims_of(CrashCluster& cluster) {
  const auto listed = cloud::wait(cluster.loop, cluster.person.list(model::kNodeClaimResource));
  return listed ? listed->items : std::vector<boost::json::value>{};
}

// True when the claim was there when the program ended.
inline bool crash_in_a_launch(CrashCluster& cluster, const CrashPlan& plan) {
  for (const auto& manifest : cluster.manifests()) {
    cluster.apply(manifest);
  }
  cluster.loop.run_for(std::chrono::seconds(30));
  cluster.prepare(plan);
  cluster.apply(plan.spread ? std::string_view(kSpreadDeployment) : kDeployment);
  const bool created = cluster.loop.run_until(
      [&] { return !cluster.world.recorder().claims().empty(); }, std::chrono::minutes(1));
  int left = plan.moment;
  cluster.loop.run_until([&] { return left-- <= 0; }, std::chrono::minutes(5));
  cluster.crash();
  return created;
}

inline void expect_one_each(CrashCluster& cluster, const CrashPlan& plan) {
  const auto alive = cluster.living_machines();
  std::multiset<std::string> claimed;
  for (const auto& claim : claims_of(cluster)) {
    const auto* id = model::find_path(claim, "status.providerID");
    ASSERT_NE(id, nullptr) << plan.to_string() << " " << boost::json::serialize(claim);
    claimed.insert(std::string(id->as_string()));
  }
  EXPECT_EQ(std::set<std::string>(claimed.begin(), claimed.end()).size(), claimed.size());
  EXPECT_EQ(alive, claimed) << plan.to_string();
  EXPECT_EQ(cluster.running_pods(), 5U) << plan.to_string();
  // Nor was more bought, even for a while, than there were ever claims.
  EXPECT_LE(cluster.made_machines(), cluster.world.recorder().claims().size()) << plan.to_string();
}

}  // namespace crash_runs_detail

// `make(seed)` gives a new cluster; `look` is called with each at the end of its run.
template <class Make, class Look>
CrashCount run_crashes(int runs, Make make, Look look) {
  using namespace crash_runs_detail;
  CrashCount count;
  for (int run = 0; run < runs && !testing::Test::HasFailure(); ++run) {
    const auto plan = plan_of(run, runs);
    const auto cluster = make(static_cast<std::uint64_t>(run) * 100 + 1);
    const bool created = crash_in_a_launch(*cluster, plan);
    EXPECT_TRUE(created) << plan.to_string();
    (cluster->made_machines() == 0 ? count.before_launch : count.after_launch) += 1;
    cluster->loop.run_for(plan.downtime);
    if (plan.delete_claims) {
      for (const auto& claim : claims_of(*cluster)) {
        const auto meta = model::decode_meta(claim);
        const auto key = model::key_of(*meta);
        EXPECT_TRUE(
            cloud::wait(cluster->loop, cluster->person.remove(model::kNodeClaimResource, key)));
      }
    }
    cluster->start_program();
    cluster->loop.run_for(std::chrono::minutes(8));
    expect_one_each(*cluster, plan);
    look(*cluster);
  }
  std::printf("crashed %d times before a machine existed, %d times after\n", count.before_launch,
              count.after_launch);
  return count;
}

}  // namespace millwright
