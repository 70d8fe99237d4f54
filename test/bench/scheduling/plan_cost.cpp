#include "plan_cost.hpp"

#include "aws_types.hpp"
#include "lower_bound.hpp"
#include "mixes.hpp"
#include "worlds.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <utility>

namespace millwright::scheduling::bench {
namespace {

constexpr std::uint32_t kSeed = 42;  // that of beside_peer.cpp

double milliseconds_since(std::clock_t begin) {
  return 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

// Karpenter's side knows only the workloads of Deployments.
std::vector<WorkloadMix> mixes() {
  std::vector<WorkloadMix> result = workload_mixes();
  result.push_back({.name = "all-different", .all_different = true});
  return result;
}

struct Totals {
  double sum = 0;
  double worst = 0;
  int rows = 0;
};

void row(const std::string& name, const WorkloadMix& mix, const Problem& problem, bool whole_pods,
         Totals& totals) {
  auto begin = std::clock();
  const Plan plan = solve(problem);
  const double took = milliseconds_since(begin);
  begin = std::clock();
  const double bound = lower_bound(problem);
  const WholePodsBound whole =
      whole_pods ? whole_pods_bound(problem, plan) : WholePodsBound{.proved = bound, .of_fills = 0};
  const double price = cost_of(plan);
  const double bound_took = milliseconds_since(begin);
  std::printf("%-26s %6zu %9.3f %9.3f %9.3f %9.3f %8.3f %8.3f %9.3f %6zu %5zu %8.1f %8.1f\n",
              name.c_str(), problem.pods.size(), price, bound, whole.proved, whole.of_fills,
              price / bound, price / whole.proved, mean_cost_of(problem, plan), plan.claims.size(),
              plan.refusals.size(), took, bound_took);
  std::fflush(stdout);
  if (!mix.has_topology()) {
    totals.sum += price / whole.proved;
    totals.worst = std::max(totals.worst, price / whole.proved);
    ++totals.rows;
  }
}

}  // namespace

base::Result<void> plan_cost(const PlanCostOptions& options) {
  std::printf("%-26s %6s %9s %9s %9s %9s %8s %8s %9s %6s %5s %8s %8s\n", "cost, $ per hour", "pods",
              "ours", "bound", "whole", "fills", "o/bound", "o/whole", "types'", "claims", "ref",
              "cpu ms", "bound ms");
  Totals totals;
  bool any = false;
  for (const auto& [catalog, types] :
       {std::pair{std::string("kwok"), kwok_types()}, {"aws", aws_like_types()}}) {
    for (const WorkloadMix& mix : mixes()) {
      const std::string name = catalog + "/" + mix.name;
      if (name.find(options.only) == std::string::npos) {
        continue;
      }
      any = true;
      for (const int pods : options.pods) {
        Problem problem = problem_of(mix, types, pods, kSeed);
        problem.pools.front().max_price_ratio = options.max_price_ratio;
        row(name, mix, problem, options.whole_pods, totals);
      }
    }
  }
  if (!any) {
    return base::fail(base::ErrorKind::Invalid, "no workload is called " + options.only);
  }
  if (totals.rows > 0) {
    std::printf("without topology: mean over the better bound %.3f, worst %.3f\n",
                totals.sum / totals.rows, totals.worst);
  }
  return {};
}

}  // namespace millwright::scheduling::bench
