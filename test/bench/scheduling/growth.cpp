#include "growth.hpp"

#include "worlds.hpp"

#include <boost/json.hpp>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <variant>
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

// 10,000 pods have their place in a plan (holds on the nodes); then one more pod comes, and
// another.
json::object arriving() {
  constexpr int kWaiting = 10'000;
  constexpr int kArrivals = 500;
  Problem problem = problem_of(kwok_types(), some_pods(kWaiting, Mix::Selective), some_nodes(5000));
  const Plan plan = solve(problem);
  for (const Placement& placement : plan.placements) {
    if (const auto* node = std::get_if<std::string>(&placement.target)) {
      Hold& hold = problem.holds.emplace_back();
      hold.pod_uid = placement.pod_uid;
      hold.target = *node;
    }
  }
  std::map<std::string, PodPtr> by_uid;
  for (const PodPtr& pod : problem.pods) {
    by_uid.emplace(pod->meta.uid, pod);
  }
  for (Hold& hold : problem.holds) {
    hold.requests = effective_requests(*by_uid.at(hold.pod_uid));
  }
  std::vector<double> took;
  for (const PodPtr& pod : some_pods(kArrivals, Mix::Selective, 7)) {
    auto one = std::make_shared<model::Pod>(*pod);
    one->meta.name = one->meta.uid = "arriving-" + pod->meta.name;
    problem.pods = {std::move(one)};
    took.push_back(1e3 * seconds_to_solve(problem));
  }
  std::sort(took.begin(), took.end());
  const double p50 = took[took.size() / 2];
  const double p99 = took[took.size() * 99 / 100];
  std::printf(
      "one arriving pod, 5,000 nodes, %zu of 10,000 waiting pods hold room there: p50 %.3f "
      "ms, p99 %.3f ms\n",
      problem.holds.size(), p50, p99);
  return {{"nodes", 5000}, {"waiting", kWaiting}, {"p50_ms", p50}, {"p99_ms", p99}};
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

json::value growth() {
  json::object result;
  result["full"] = full_size();
  result["arriving"] = arriving();
  result["growth"] = axes();
  return result;
}

}  // namespace millwright::scheduling::bench
