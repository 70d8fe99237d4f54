#include "growth.hpp"

#include "millwright/scheduling/planning_session.hpp"
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

// 10,000 pods have their place in a plan; then one more pod comes, and another, each of them to a
// revised plan. Now and then that is a plan from scratch, and counts as what it takes. In between
// pods that were planned onto nodes are bound there. `full`: the nodes are, so that everybody waits
// for claims.
json::object arriving(bool full) {
  constexpr int kWaiting = 10'000;
  constexpr int kArrivals = 1000;
  std::map<std::string, NodeRecordPtr, std::less<>> nodes;
  std::vector<NodeRecordPtr> records;
  for (const NodeRecordPtr& node : some_nodes(5000)) {
    auto record = std::make_shared<NodeRecord>(*node);
    if (full) {
      record->pod_requests = record->node->allocatable;
    }
    records.push_back(record);
    nodes.emplace(record->name(), std::move(record));
  }
  PlanningSession session(
      problem_of(kwok_types(), some_pods(kWaiting, Mix::Selective), std::move(records)));
  std::vector<double> arrivals;
  std::vector<double> binds;
  for (const PodPtr& pod : some_pods(kArrivals, Mix::Selective, 7)) {
    auto one = std::make_shared<model::Pod>(*pod);
    one->meta.name = one->meta.uid = "arriving-" + pod->meta.name;
    Revision revision;
    arrivals.push_back(milliseconds([&] { revision = session.add_pod(one); }));
    for (const Placement& placement : revision.placements) {
      if (const auto* name = std::get_if<std::string>(&placement.target)) {
        auto record = std::make_shared<NodeRecord>(*nodes[*name]);
        model::add_to(record->pod_requests, effective_requests(*one));
        record->pods.push_back(one);
        nodes[*name] = record;
        binds.push_back(milliseconds([&] { session.bind_pod(placement.pod_uid, record); }));
      }
    }
  }
  const std::size_t from_scratch = session.restarts() - 1;
  const Percentiles arrival = percentiles(std::move(arrivals));
  std::printf(
      "one arriving pod, 5,000 %s nodes, 10,000 waiting: p50 %.3f ms, p99 %.3f ms (%zu of %d "
      "planned from scratch)\n",
      full ? "full" : "half full", arrival.p50, arrival.p99, from_scratch, kArrivals);
  json::object result{{"nodes", 5000},         {"waiting", kWaiting},
                      {"p50_ms", arrival.p50}, {"p99_ms", arrival.p99},
                      {"arrivals", kArrivals}, {"from_scratch", from_scratch}};
  if (!binds.empty()) {
    const Percentiles bind = percentiles(std::move(binds));
    std::printf("one pod bound there: p50 %.3f ms, p99 %.3f ms\n", bind.p50, bind.p99);
    result["bind_p50_ms"] = bind.p50;
    result["bind_p99_ms"] = bind.p99;
  }
  return result;
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
  result["arriving"] = arriving(false);
  result["arriving_full"] = arriving(true);
  if (part != "arriving") {
    result["growth"] = axes();
  }
  return result;
}

}  // namespace millwright::scheduling::bench
