// How fast the planner is and how good its plans are. Each case solves a fresh problem per
// iteration; the counters say what came out:
//   pods/s, claims, refused, price per hour, and price over the linear-programming lower bound.
#include "lower_bound.hpp"
#include "millwright/scheduling/plan_memory.hpp"
#include "recipe.hpp"
#include "worlds.hpp"

#include <benchmark/benchmark.h>

namespace millwright::scheduling::bench {
namespace {

void run(benchmark::State& state, const Problem& problem, bool with_bound = true) {
  Plan plan;
  for (auto _ : state) {
    plan = solve(problem);
    benchmark::DoNotOptimize(plan);
  }
  double price = 0;
  for (const PlannedClaim& claim : plan.claims) {
    price += claim.price;
  }
  using benchmark::Counter;
  state.counters["pods/s"] =
      Counter(static_cast<double>(problem.pods.size()), Counter::kIsIterationInvariantRate);
  state.counters["claims"] = static_cast<double>(plan.claims.size());
  state.counters["refused"] = static_cast<double>(plan.refusals.size());
  state.counters["price"] = price;
  if (with_bound) {
    state.counters["over_bound"] = price / lower_bound(problem);
  }
}

void PlainPodsOnKwok(benchmark::State& state) {
  run(state, problem_of(kwok_types(), some_pods(static_cast<int>(state.range(0)), Mix::Plain)));
}
BENCHMARK(PlainPodsOnKwok)->Arg(1)->Arg(100)->Arg(1000)->Arg(20000)->Unit(benchmark::kMillisecond);

void MemoryHeavyPodsOnKwok(benchmark::State& state) {
  run(state,
      problem_of(kwok_types(), some_pods(static_cast<int>(state.range(0)), Mix::MemoryHeavy)));
}
BENCHMARK(MemoryHeavyPodsOnKwok)->Arg(1000)->Arg(20000)->Unit(benchmark::kMillisecond);

void SelectivePodsOnKwok(benchmark::State& state) {
  run(state, problem_of(kwok_types(), some_pods(static_cast<int>(state.range(0)), Mix::Selective)));
}
BENCHMARK(SelectivePodsOnKwok)->Arg(1000)->Arg(20000)->Unit(benchmark::kMillisecond);

// The steady state of a large cluster: one new pod, thousands of nodes to look at.
void OnePodOnManyNodes(benchmark::State& state) {
  run(state,
      problem_of(kwok_types(), some_pods(1, Mix::Plain),
                 some_nodes(static_cast<int>(state.range(0)))),
      false);
}
BENCHMARK(OnePodOnManyNodes)->Arg(500)->Arg(5000)->Unit(benchmark::kMillisecond);

// The same by a planner that has planned for these nodes before.
void OnePodOnRememberedNodes(benchmark::State& state) {
  const Problem problem = problem_of(kwok_types(), some_pods(1, Mix::Plain),
                                     some_nodes(static_cast<int>(state.range(0))));
  PlanMemory memory;
  Plan plan = solve(problem, memory);
  for (auto _ : state) {
    plan = solve(problem, memory);
    benchmark::DoNotOptimize(plan);
  }
}
BENCHMARK(OnePodOnRememberedNodes)->Arg(500)->Arg(5000)->Unit(benchmark::kMillisecond);

// Karpenter's benchmark; on two cores Karpenter plans 331 pods/s of 100, 145 pods/s of 20,000.
void KarpenterRecipe(benchmark::State& state) {
  run(state, problem_of(recipe_types(), diverse_pods(static_cast<int>(state.range(0)))), false);
}
BENCHMARK(KarpenterRecipe)
    ->Arg(1)
    ->Arg(50)
    ->Arg(100)
    ->Arg(500)
    ->Arg(1000)
    ->Arg(2000)
    ->Arg(5000)
    ->Arg(10000)
    ->Arg(20000)
    ->Unit(benchmark::kMillisecond);

// 4,000 pods with preferences; argument 1: ignored. Karpenter plans 53 and 3,294 pods/s.
void KarpenterPreferences(benchmark::State& state) {
  Problem problem = problem_of(recipe_types(), preference_pods(4000));
  if (state.range(0) == 1) {
    problem.options.preferences = PreferencePolicy::Ignore;
  }
  run(state, problem, false);
}
BENCHMARK(KarpenterPreferences)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void HundredThousandPods(benchmark::State& state) {
  run(state, problem_of(many_types(800), some_pods(100'000, Mix::Selective), some_nodes(5000)),
      false);
}
BENCHMARK(HundredThousandPods)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace millwright::scheduling::bench

BENCHMARK_MAIN();
