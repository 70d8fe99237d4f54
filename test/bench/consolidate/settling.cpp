#include "bench/consolidate/settling.hpp"

#include "disruption/methods/consolidation/consolidation.hpp"
#include "disruption/methods/methods.hpp"

#include <algorithm>
#include <ctime>
#include <utility>

namespace millwright::disruption::bench {
namespace {

constexpr int kMostRounds = 1000;

double seconds_since(std::clock_t begin) {
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

}  // namespace

std::vector<Command> ours_next(const Input& input) {
  return decide(input).commands;
}

std::vector<Command> karpenters_next(const Input& input) {
  Survey survey(input, {});
  auto command = remove_empty(survey);
  if (!command) {
    command = consolidate_as_karpenter(survey);
  }
  std::vector<Command> commands;
  if (command) {
    commands.push_back(*std::move(command));
  }
  return commands;
}

Outcome settle(LiveCluster cluster, const Decide& decide, const Seen& seen, double most_seconds) {
  Outcome outcome;
  outcome.first_price = cluster.price();
  while (outcome.rounds < kMostRounds) {
    const auto input = cluster.input();
    const auto begin = std::clock();
    const auto commands = decide(input);
    const double took = seconds_since(begin);
    outcome.seconds += took;
    outcome.slowest = std::max(outcome.slowest, took);
    if (commands.empty()) {
      break;
    }
    for (const auto& command : commands) {
      cluster.carry_out(command);
      if (seen) {
        seen(command, took);
      }
    }
    if (++outcome.rounds == 1) {
      outcome.first_price = cluster.price();
    }
    if (outcome.seconds >= most_seconds) {
      outcome.stopped = true;
      break;
    }
  }
  outcome.price = cluster.price();
  outcome.nodes = cluster.nodes();
  outcome.evicted = cluster.evicted();
  return outcome;
}

}  // namespace millwright::disruption::bench
