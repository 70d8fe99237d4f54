#include "growth.hpp"

#include "millwright/scheduling/plan_memory.hpp"
#include "recipe.hpp"
#include "worlds.hpp"

#include <boost/json.hpp>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace millwright::scheduling::bench {
namespace {

namespace json = boost::json;

double seconds_to_solve(const Problem& problem) {
  const auto begin = std::chrono::steady_clock::now();
  const Plan plan = solve(problem);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  return plan.placements.empty() ? 0 : took.count();
}

double peak_mebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// First of all, since the peak of a process never falls.
json::object full_size() {
  const Problem problem =
      problem_of(many_types(800), some_pods(100'000, Mix::Selective), some_nodes(5000));
  const double before = peak_mebibytes();
  const double seconds = seconds_to_solve(problem);
  std::printf(
      "100,000 pods, 800 types, 5,000 nodes: %.2f s, peak %.0f MiB resident (%.0f MiB of it "
      "the problem)\n",
      seconds, peak_mebibytes(), before);
  return {{"pods", 100'000},
          {"types", 800},
          {"nodes", 5000},
          {"seconds", seconds},
          {"peak_mib", peak_mebibytes()},
          {"problem_mib", before}};
}

struct Percentiles {
  double p50 = 0;
  double p99 = 0;
};

Percentiles percentiles(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values[values.size() / 2], values[values.size() * 99 / 100]};
}

std::vector<NodeRecordPtr> full_nodes(int count) {
  std::vector<NodeRecordPtr> nodes;
  for (const NodeRecordPtr& node : some_nodes(count)) {
    auto record = std::make_shared<NodeRecord>(*node);
    record->pod_requests = record->node->allocatable;
    nodes.push_back(std::move(record));
  }
  return nodes;
}

// One pod after another arrives on a cluster that the planner has seen before, as the provisioner
// plans: a whole plan each time, with what is remembered of the last one.
json::object arriving(const char* what, const InstanceTypes& types,
                      const std::vector<NodeRecordPtr>& nodes, const std::vector<PodPtr>& pods) {
  PlanMemory memory;
  Problem problem = problem_of(types, {}, nodes);
  solve(problem, memory);
  std::vector<double> took;
  for (const PodPtr& pod : pods) {
    problem.pods = {pod};
    const auto begin = std::chrono::steady_clock::now();
    solve(problem, memory);
    const std::chrono::duration<double, std::milli> each = std::chrono::steady_clock::now() - begin;
    took.push_back(each.count());
  }
  const Percentiles found = percentiles(std::move(took));
  std::printf("one arriving pod, %zu %s: p50 %.3f ms, p99 %.3f ms\n", nodes.size(), what, found.p50,
              found.p99);
  return {{"nodes", nodes.size()},
          {"arrivals", pods.size()},
          {"p50_ms", found.p50},
          {"p99_ms", found.p99}};
}

void add_arriving(json::object& result) {
  constexpr int kPods = 1000;
  constexpr int kNodes = 5000;
  const auto pods = some_pods(kPods, Mix::Selective);
  result["arriving"] = arriving("nodes, half full", kwok_types(), some_nodes(kNodes), pods);
  result["arriving_full"] = arriving("nodes, full", kwok_types(), full_nodes(kNodes), pods);
  result["arriving_recipe"] = arriving("nodes, Karpenter's recipe of pods", recipe_types(),
                                       some_nodes(kNodes), diverse_pods(kPods));
}

json::array axes() {
  json::array rows;
  const auto add = [&](const char* axis, int value, const Problem& problem) {
    const double seconds = std::min(seconds_to_solve(problem), seconds_to_solve(problem));
    std::printf("%-6s %7d %8.3f s\n", axis, value, seconds);
    std::fflush(stdout);
    rows.push_back(json::object{{"axis", axis}, {"value", value}, {"seconds", seconds}});
  };
  for (const int pods : {1000, 3000, 10'000, 30'000, 100'000}) {
    add("pods", pods, problem_of(many_types(800), some_pods(pods, Mix::Selective)));
  }
  for (const int types : {25, 50, 100, 200, 400, 800}) {
    add("types", types, problem_of(many_types(types), some_pods(10'000, Mix::Selective)));
  }
  for (const int nodes : {0, 1000, 2000, 5000, 10'000}) {
    add("nodes", nodes,
        problem_of(many_types(200), some_pods(10'000, Mix::Selective), some_nodes(nodes)));
  }
  return rows;
}

}  // namespace

json::value growth(const std::string& part) {
  json::object result;
  if (part != "arriving") {
    result["full"] = full_size();
  }
  add_arriving(result);
  if (part != "arriving") {
    result["growth"] = axes();
  }
  return result;
}

}  // namespace millwright::scheduling::bench
