#include "beside_peer.hpp"

#include "arrival.hpp"
#include "aws_types.hpp"
#include "checker/files/scenario.hpp"
#include "corners.hpp"
#include "lower_bound.hpp"
#include "millwright/scheduling/plan_memory.hpp"
#include "mixes.hpp"
#include "peer/runner/peer.hpp"
#include "recipe.hpp"
#include "worlds.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <vector>

namespace millwright::scheduling::bench {
namespace {

namespace json = boost::json;

constexpr std::uint32_t kSeed = 42;
// How long either side is repeated when a single run is shorter.
constexpr double kSeconds = 0.25;

struct Outcome {
  Problem problem;  // as read from the file
  Plan ours;
  Plan peer;
  double our_seconds = 0;
  double peer_seconds = 0;
};

double median(std::vector<double>& seconds) {
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

// Adds how long each of several plans took.
template <class Solve>
Plan repeat(const Solve& plan_once, std::vector<double>& seconds) {
  Plan plan;
  for (double sum = 0; sum < kSeconds;) {
    const auto begin = std::chrono::steady_clock::now();
    plan = plan_once();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    seconds.push_back(took.count());
    sum += took.count();
  }
  return plan;
}

// As the provisioner plans: catalog and NodePools were compiled for a plan before, as they were for
// the peer's scheduler before its Solve is timed.
double seconds_with_memory(const Problem& problem) {
  PlanMemory memory;
  solve(problem, memory);
  std::vector<double> seconds;
  repeat([&] { return solve(problem, memory); }, seconds);
  return median(seconds);
}

base::Result<Outcome> run(const BesideOptions& options, const Problem& made,
                          const std::string& name) {
  const std::string file = options.folder + "/" + name + ".jsonl";
  std::ofstream(file) << checker::write_scenario(made, name);
  auto scenario = checker::read_scenario_file(file);
  if (!scenario) {
    return tl::unexpected(scenario.error());
  }
  Outcome result;
  result.problem = std::move(scenario->problem);
  for (std::size_t i = 0; i < made.pools.size(); ++i) {
    result.problem.pools[i].node_overhead = made.pools[i].node_overhead;  // no part of the file
  }
  const auto plan_once = [&] { return solve(result.problem); };
  std::vector<double> seconds;
  repeat(plan_once, seconds);
  auto peer = peer::run_peer(options.peer, {file}, {.seconds = kSeconds});
  if (!peer) {
    return tl::unexpected(peer.error());
  }
  result.ours = repeat(plan_once, seconds);
  result.our_seconds = median(seconds);
  result.peer = std::move(peer->front().plan);
  result.peer_seconds = peer->front().solve_seconds;
  peer::price_claims(result.problem, result.peer);
  return result;
}

base::Result<void> speed_row(const BesideOptions& options, const std::string& name, Problem problem,
                             json::array& rows) {
  const auto pods = problem.pods.size();
  const auto outcome = run(options, problem, name + "-" + std::to_string(pods));
  if (!outcome) {
    return tl::unexpected(outcome.error());
  }
  const double ours = static_cast<double>(pods) / outcome->our_seconds;
  const double remembering = static_cast<double>(pods) / seconds_with_memory(outcome->problem);
  const double peers = static_cast<double>(pods) / outcome->peer_seconds;
  std::printf("%-22s %7zu %14.0f %12.0f %12.0f %9.0f %11.0f   %zu and %zu refused\n", name.c_str(),
              pods, ours, remembering, peers, ours / peers, remembering / peers,
              outcome->ours.refusals.size(), outcome->peer.refusals.size());
  std::fflush(stdout);
  rows.push_back(json::object{{"case", name},
                              {"pods", pods},
                              {"ours_pods_per_second", ours},
                              {"ours_with_memory_pods_per_second", remembering},
                              {"peer_pods_per_second", peers},
                              {"ratio", ours / peers},
                              {"ratio_with_memory", remembering / peers},
                              {"claims_ours", outcome->ours.claims.size()},
                              {"claims_peer", outcome->peer.claims.size()}});
  return {};
}

// With what a node costs beside its instance by default.
Problem as_shipped(Problem problem) {
  for (auto& option : problem.pools) {
    option.node_overhead = kNodeOverhead;
  }
  return problem;
}

base::Result<json::array> speed(const BesideOptions& options) {
  CornerOptions hard{.peer = options.peer, .folder = options.folder};
  if (!options.full) {
    hard.most_pods = 2000;
  }
  // First of all: each has a process of its own, whose peak is no less than what this one has then.
  const auto hard_rows = corners(hard);
  if (!hard_rows) {
    return tl::unexpected(hard_rows.error());
  }
  std::printf("%-22s %7s %14s %12s %12s %9s %11s\n", "speed", "pods", "ours pods/s", "with memory",
              "peer pods/s", "ratio", "with memory");
  json::array rows;
  std::vector<int> sizes = {50, 100, 200, 500, 1000, 5000};
  if (options.full) {
    sizes.insert(sizes.end(), {10'000, 20'000});
  }
  for (const int size : sizes) {
    auto row = speed_row(options, "recipe",
                         as_shipped(problem_of(recipe_types(), diverse_pods(size))), rows);
    if (!row) {
      return tl::unexpected(row.error());
    }
  }
  for (const auto policy : {PreferencePolicy::Respect, PreferencePolicy::Ignore}) {
    const bool respect = policy == PreferencePolicy::Respect;
    Problem problem = as_shipped(problem_of(recipe_types(), preference_pods(4000)));
    problem.options.preferences = policy;
    auto row = speed_row(options, respect ? "preferences-respected" : "preferences-ignored",
                         std::move(problem), rows);
    if (!row) {
      return tl::unexpected(row.error());
    }
  }
  rows.insert(rows.end(), hard_rows->begin(), hard_rows->end());
  return rows;
}

// What both sides and the bound come to, over all rows.
struct Totals {
  double ratio_sum = 0;  // ours over the peer's
  double worst_over_bound = 0;
  double worst_ratio = 0;
  int rows = 0;
};

base::Result<void> cost_row(const BesideOptions& options, const std::string& catalog,
                            const InstanceTypes& types, const WorkloadMix& mix, int pods,
                            json::array& rows, Totals& totals) {
  const std::string name = catalog + "/" + mix.name;
  std::string file = name + "-" + std::to_string(pods);
  std::replace(file.begin(), file.end(), '/', '-');
  std::replace(file.begin(), file.end(), ':', '-');
  const auto outcome = run(options, problem_of(mix, types, pods, kSeed), file);
  if (!outcome) {
    return tl::unexpected(outcome.error());
  }
  const double ours = cost_of(outcome->ours);
  const double peers = cost_of(outcome->peer);
  const double bound = lower_bound(outcome->problem);
  const double our_mean = mean_cost_of(outcome->problem, outcome->ours);
  const double peers_mean = mean_cost_of(outcome->problem, outcome->peer);
  std::printf(
      "%-26s %6d %9.3f %9.3f %9.3f %8.3f %8.3f %9.3f %9.3f %6zu %6zu %5zu %5zu %8.1f %8.1f\n",
      name.c_str(), pods, ours, peers, bound, ours / bound, ours / peers, our_mean, peers_mean,
      outcome->ours.claims.size(), outcome->peer.claims.size(), outcome->ours.refusals.size(),
      outcome->peer.refusals.size(), 1e3 * outcome->our_seconds, 1e3 * outcome->peer_seconds);
  std::fflush(stdout);
  rows.push_back(json::object{{"workload", name},
                              {"pods", pods},
                              {"ours", ours},
                              {"peer", peers},
                              {"lower_bound", bound},
                              {"ours_mean_of_types", our_mean},
                              {"peer_mean_of_types", peers_mean},
                              {"node_overhead", kNodeOverhead},
                              {"claims_ours", outcome->ours.claims.size()},
                              {"claims_peer", outcome->peer.claims.size()}});
  totals.ratio_sum += ours / peers;
  totals.worst_ratio = std::max(totals.worst_ratio, ours / peers);
  if (!mix.has_topology()) {
    totals.worst_over_bound = std::max(totals.worst_over_bound, ours / bound);
  }
  ++totals.rows;
  return {};
}

base::Result<json::array> cost(const BesideOptions& options) {
  std::printf("\n%-26s %6s %9s %9s %9s %8s %8s %9s %9s %6s %6s %5s %5s %8s %8s\n",
              "cost, $ per hour", "pods", "ours", "peer", "bound", "o/bound", "o/peer", "types'",
              "peer's", "claims", "peer's", "ref", "ref", "ms", "peer ms");
  json::array rows;
  Totals totals;
  for (const auto& [catalog, types] :
       {std::pair{std::string("kwok"), kwok_types()}, {"aws", aws_like_types()}}) {
    for (const WorkloadMix& mix : workload_mixes()) {
      for (const int pods : options.full ? std::vector{1000, 5000} : std::vector{1000}) {
        auto row = cost_row(options, catalog, types, mix, pods, rows, totals);
        if (!row) {
          return tl::unexpected(row.error());
        }
      }
    }
  }
  std::printf(
      "mean of ours over the peer's %.3f, the worst %.3f; the worst over the bound without "
      "topology %.3f\n",
      totals.ratio_sum / totals.rows, totals.worst_ratio, totals.worst_over_bound);
  return rows;
}

}  // namespace

base::Result<json::value> beside_peer(const BesideOptions& options) {
  json::object figures{
      {"speed", json::array{}}, {"cost", json::array{}}, {"arrival", json::array{}}};
  if (options.only != "cost") {
    auto rows = speed(options);
    if (!rows) {
      return tl::unexpected(rows.error());
    }
    figures["speed"] = *std::move(rows);
  }
  if (options.only != "speed") {
    auto rows = cost(options);
    if (!rows) {
      return tl::unexpected(rows.error());
    }
    figures["cost"] = *std::move(rows);
    auto arriving = arrival({});
    if (!arriving) {
      return tl::unexpected(arriving.error());
    }
    figures["arrival"] = *std::move(arriving);
  }
  return figures;
}

}  // namespace millwright::scheduling::bench
