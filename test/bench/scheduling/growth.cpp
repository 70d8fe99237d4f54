#include "growth.hpp"

#include "millwright/scheduling/planning_session.hpp"
#include "recipe.hpp"
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

struct Percentiles {
  double p50 = 0;
  double p99 = 0;
};

Percentiles percentiles(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values[values.size() / 2], values[values.size() * 99 / 100]};
}

template <class Act>
double milliseconds(Act act) {
  const auto begin = std::chrono::steady_clock::now();
  act();
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  return took.count();
}

// The node with one more pod bound.
NodeRecordPtr with_pod(const NodeRecord& node, const PodPtr& pod) {
  auto record = std::make_shared<NodeRecord>(node);
  model::add_to(record->pod_requests, effective_requests(*pod));
  record->pods.push_back(pod);
  return record;
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

// 10,000 pods have their place in a plan for 5,000 nodes; then one more pod comes, and another, of
// the same kinds as the others, each of them to a revised plan. Now and then that is a plan from
// scratch, and counts as what it takes. In between, pods without a say in where others go are bound
// to the nodes that they were planned onto.
json::object arriving(const char* what, InstanceTypes types, std::vector<NodeRecordPtr> records,
                      const std::vector<PodPtr>& pods) {
  constexpr std::size_t kEvery = 11;
  std::vector<PodPtr> waiting;
  std::vector<PodPtr> coming;
  for (std::size_t i = 0; i < pods.size(); ++i) {
    (i % kEvery == 0 ? coming : waiting).push_back(pods[i]);
  }
  std::map<std::string, NodeRecordPtr, std::less<>> nodes;
  for (const NodeRecordPtr& node : records) {
    nodes.emplace(node->name(), node);
  }
  const std::size_t waited = waiting.size();
  PlanningSession session(problem_of(std::move(types), std::move(waiting), std::move(records)));
  std::vector<double> arrivals;
  std::vector<double> binds;
  for (const PodPtr& pod : coming) {
    Revision revision;
    arrivals.push_back(milliseconds([&] { revision = session.add_pod(pod); }));
    for (const Placement& placement : revision.placements) {
      const auto* name = std::get_if<std::string>(&placement.target);
      if (name != nullptr && pod->meta.labels.empty()) {
        NodeRecordPtr& node = nodes[*name];
        node = with_pod(*node, pod);
        binds.push_back(milliseconds([&] { session.bind_pod(placement.pod_uid, node); }));
      }
    }
  }
  const std::size_t from_scratch = session.restarts() - 1;
  json::object result{{"nodes", nodes.size()},
                      {"waiting", waited},
                      {"arrivals", arrivals.size()},
                      {"from_scratch", from_scratch}};
  const Percentiles arrival = percentiles(std::move(arrivals));
  std::printf(
      "one arriving pod, %zu waiting, %zu %s: p50 %.3f ms, p99 %.3f ms (%zu of %zu planned "
      "from scratch)\n",
      waited, nodes.size(), what, arrival.p50, arrival.p99, from_scratch, coming.size());
  result["p50_ms"] = arrival.p50;
  result["p99_ms"] = arrival.p99;
  if (!binds.empty()) {
    const Percentiles bind = percentiles(std::move(binds));
    std::printf("one pod bound there: p50 %.3f ms, p99 %.3f ms\n", bind.p50, bind.p99);
    result["bind_p50_ms"] = bind.p50;
    result["bind_p99_ms"] = bind.p99;
  }
  return result;
}

void add_arriving(json::object& result) {
  constexpr int kPods = 11'000;
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
