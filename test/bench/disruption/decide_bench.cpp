// How long one decision takes over 5,000 nodes and 50,000 pods (target: under a second), and what a
// purchase waits while decisions are made.
#include "millwright/base/loop.hpp"
#include "unit/disruption/cluster_builder.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>

namespace millwright::disruption {
namespace {

// Two hundred types in steps of two CPUs, dearer by size, no two priced alike.
std::vector<scheduling::InstanceType> many_types() {
  std::vector<scheduling::InstanceType> types;
  for (int i = 1; i <= 200; ++i) {
    types.push_back(instance_type("t" + std::to_string(1000 + i), 2 + (i % 32) * 2,
                                  0.05 * (2 + (i % 32) * 2) + 0.0001 * i, {"a", "b", "c"}));
  }
  return types;
}

// Nodes with ten pods each that leave `free` millicores of a ten-CPU node unused.
Cluster big_cluster(std::int64_t nodes, std::int64_t free) {
  Cluster cluster;
  auto types = many_types();
  types.push_back(instance_type("base", 10, 0.4, {"a", "b", "c"}));
  cluster.set_types("pool", std::move(types));
  for (std::int64_t n = 0; n < nodes; ++n) {
    const std::string name = "n" + std::to_string(100000 + n);
    std::vector<std::shared_ptr<model::Pod>> pods;
    for (std::int64_t p = 0; p < 10; ++p) {
      pods.push_back(pod(name + "-" + std::to_string(p), 1000 - free / 10));
      pods.back()->meta.labels["app"] = "app-" + std::to_string((n * 10 + p) % 500);
    }
    cluster.add_node(name, std::move(pods), {.type = "base", .zone = n % 2 == 0 ? "a" : "b"});
  }
  return cluster;
}

// Every candidate is looked at and none can go: what a settled cluster costs every few seconds,
// when decisions remember what has not changed (1), and the first time (0).
void settled(benchmark::State& state) {
  auto input = big_cluster(state.range(0), 50).input();
  input.memory = state.range(1) == 1 ? make_memory() : nullptr;
  decide(input);
  for (auto _ : state) {
    auto decisions = decide(input);
    if (!decisions.commands.empty()) {
      state.SkipWithError("the cluster was meant to be settled");
    }
    benchmark::DoNotOptimize(decisions);
  }
}
BENCHMARK(settled)->ArgsProduct({{500, 5000}, {0, 1}})->Unit(benchmark::kMillisecond);

// The same, but every node has room for the smallest pod of every other.
void settled_with_gaps(benchmark::State& state) {
  auto cluster = big_cluster(state.range(0), 600);
  const auto nodes = cluster.input().snapshot->nodes;
  for (const auto& record : nodes) {
    cluster.node(record->name()).record->pods.push_back(pod(record->name() + "-small", 50));
  }
  const auto input = cluster.input();
  for (auto _ : state) {
    auto decisions = decide(input);
    if (!decisions.commands.empty()) {
      state.SkipWithError("the cluster was meant to be settled");
    }
    benchmark::DoNotOptimize(decisions);
  }
}
BENCHMARK(settled_with_gaps)->Arg(1000)->Arg(5000)->Unit(benchmark::kMillisecond);

// A fifth of every node is free: many nodes can go together.
void loose(benchmark::State& state) {
  const auto input = big_cluster(state.range(0), 2000).input();
  std::size_t removed = 0;
  for (auto _ : state) {
    const auto decisions = decide(input);
    removed = claims_of(decisions).size();
  }
  state.counters["removed"] = static_cast<double>(removed);
}
BENCHMARK(loose)->Arg(500)->Arg(5000)->Unit(benchmark::kMillisecond);

// Checking a chosen command once more before acting on it.
void validate(benchmark::State& state) {
  const auto input = big_cluster(state.range(0), 2000).input();
  const auto decisions = decide(input);
  if (decisions.commands.empty()) {
    state.SkipWithError("a command was expected");
    return;
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(still_valid(decisions.commands.front(), input));
  }
}
BENCHMARK(validate)->Arg(5000)->Unit(benchmark::kMillisecond);

// A hundred pods that wait, on a cluster of a tenth of the size.
scheduling::Problem purchase() {
  auto cluster = big_cluster(500, 50);
  const auto input = cluster.input();
  scheduling::Problem problem;
  for (const auto& pool : input.snapshot->node_pools) {
    problem.pools.push_back({pool, input.catalog.find(pool->meta.name)->second});
  }
  problem.nodes = input.snapshot->nodes;
  problem.counted_nodes = input.snapshot->nodes;
  problem.cluster = input.snapshot;
  for (int i = 0; i < 100; ++i) {
    problem.pods.push_back(pod("new-" + std::to_string(i), 500 + 100 * (i % 10)));
  }
  return problem;
}

// From asking for a plan until it is there. With 1, one decision after the other is made in the
// background meanwhile, without a pause.
void plan_beside_decisions(benchmark::State& state) {
  const auto input = big_cluster(5000, 50).input();
  const auto problem = purchase();
  std::atomic<bool> enough = state.range(0) == 0;
  std::function<void()> decide_again;
  std::vector<double> waits;
  {
    base::ComputeThreads compute;
    decide_again = [&] {
      if (!enough) {
        benchmark::DoNotOptimize(decide(input));
        compute.run_in_background(decide_again);
      }
    };
    compute.run_in_background(decide_again);
    for (auto _ : state) {
      const auto begin = std::chrono::steady_clock::now();
      std::promise<void> done;
      compute.run([&] {
        benchmark::DoNotOptimize(scheduling::solve(problem));
        done.set_value();
      });
      done.get_future().wait();
      waits.push_back(
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    enough = true;
  }
  std::sort(waits.begin(), waits.end());
  state.counters["p50"] = waits[waits.size() / 2];
  state.counters["p99"] = waits[waits.size() * 99 / 100];
}
BENCHMARK(plan_beside_decisions)
    ->Arg(0)
    ->Arg(1)
    ->Iterations(500)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace millwright::disruption
