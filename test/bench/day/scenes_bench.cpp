// scenes_bench [--commands] [--walks N]: two scenes of scripts/bench field in virtual time, with
// Millwright's removal and with Karpenter's rules in its place: a Deployment of 500 pods that is
// scaled to 100, and the replicas of three Deployments that change every few seconds for ten
// minutes. Machines have at most 16 CPUs; budgets are 100 %. With --walks there are N of the latter
// instead, and their means.
#include "bench/day/played_cluster.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <random>
#include <string>
#include <string_view>
#include <utility>

namespace {

using millwright::bench::PlayedCluster;
using millwright::bench::Side;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::array kSides = {std::pair{Side::Ours, "Millwright"},
                               std::pair{Side::Peer, "Karpenter's rules"}};
constexpr unsigned kWalkOfTheField = 7;

struct Options {
  bool show_commands = false;
  unsigned walks = 0;  // 0: both scenes, one walk
};

struct Outcome {
  double claims = 0;  // NodeClaims made
  double evicted = 0;
  double at_rest = 0;  // seconds until the price changed last
  double nodes = 0;    // at the end, as the price
  double price = 0;    // per hour
  double dollars = 0;

  Outcome& operator+=(const Outcome& other) {
    claims += other.claims;
    evicted += other.evicted;
    at_rest += other.at_rest;
    nodes += other.nodes;
    price += other.price;
    dollars += other.dollars;
    return *this;
  }
};

// `outcome` is the sum of `count`.
void print(std::string_view scene, std::string_view side, const Outcome& outcome, double count) {
  std::printf(
      "%-12s %-18s NodeClaims %5.1f  evicted %6.1f  at rest after %6.1f s  nodes %5.1f  $%.3f/h  "
      "$%.4f\n",
      std::string(scene).c_str(), std::string(side).c_str(), outcome.claims / count,
      outcome.evicted / count, outcome.at_rest / count, outcome.nodes / count,
      outcome.price / count, outcome.dollars / count);
  std::fflush(stdout);
}

// What a scene has cost, looked at every second.
class Account {
 public:
  explicit Account(PlayedCluster& cluster) : cluster_(cluster), begin_(cluster.now()) {}

  double elapsed() const { return std::chrono::duration<double>(cluster_.now() - begin_).count(); }
  void run_until(double second) {
    while (elapsed() < second) {
      cluster_.run_for(seconds(1));
      const double price = cluster_.recorder().view().price_per_hour;
      outcome_.dollars += price / 3600;
      if (price != outcome_.price) {
        outcome_.price = price;
        outcome_.at_rest = elapsed();
      }
    }
  }
  Outcome outcome() const {
    Outcome all = outcome_;
    all.claims = static_cast<double>(cluster_.recorder().claims().size());
    all.evicted = cluster_.evictions();
    all.nodes = static_cast<double>(cluster_.recorder().view().nodes.size());
    return all;
  }

 private:
  PlayedCluster& cluster_;
  millwright::base::TimePoint begin_;
  Outcome outcome_;
};

// Ten minutes.
Outcome shrink(PlayedCluster& cluster) {
  cluster.deploy({.name = "work", .milli_cpu = 1000, .mebibytes = 1024}, 500);
  cluster.run_for(minutes(5));
  cluster.scale("work", 100);
  Account account(cluster);
  account.run_until(600);
  return account.outcome();
}

// Twenty minutes, of which replicas walk for ten.
Outcome walk(PlayedCluster& cluster, unsigned seed) {
  constexpr std::array kMilliCpus = {500, 1000, 2000};
  std::mt19937 random(seed);
  std::array replicas = {40, 40, 40};
  Account account(cluster);
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    cluster.deploy(
        {.name = "walk-" + std::to_string(i), .milli_cpu = kMilliCpus[i], .mebibytes = 1024},
        replicas[i]);
  }
  const auto pause = [&] { return 2 + static_cast<double>(random() % 5); };
  for (double at = pause(); at < 600; at += pause()) {
    account.run_until(at);
    const auto which = random() % replicas.size();
    const int move = static_cast<int>(random() % 41) - 20;
    replicas[which] = std::clamp(replicas[which] + move, 0, 120);
    cluster.scale("walk-" + std::to_string(which), replicas[which]);
  }
  account.run_until(1200);
  return account.outcome();
}

PlayedCluster cluster_of(Side side, const Options& options) {
  return PlayedCluster(
      {.side = side, .cpus_below = 17, .budget = "100%", .show_commands = options.show_commands});
}

void play_scenes(const Options& options) {
  for (const auto& [side, name] : kSides) {
    auto cluster = cluster_of(side, options);
    print("500 to 100", name, shrink(cluster), 1);
  }
  for (const auto& [side, name] : kSides) {
    auto cluster = cluster_of(side, options);
    print("walk", name, walk(cluster, kWalkOfTheField), 1);
  }
}

void play_walks(const Options& options) {
  for (const auto& [side, name] : kSides) {
    Outcome sum;
    for (unsigned i = 0; i < options.walks; ++i) {
      auto cluster = cluster_of(side, options);
      const auto outcome = walk(cluster, kWalkOfTheField + i);
      print("walk " + std::to_string(kWalkOfTheField + i), name, outcome, 1);
      sum += outcome;
    }
    print("mean", name, sum, options.walks);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--commands") {
      options.show_commands = true;
    } else if (argument == "--walks" && i + 1 < argc && std::atoi(argv[i + 1]) > 0) {
      options.walks = static_cast<unsigned>(std::atoi(argv[++i]));
    } else {
      std::fputs("usage: scenes_bench [--commands] [--walks N]\n", stderr);
      return 2;
    }
  }
  try {
    options.walks > 0 ? play_walks(options) : play_scenes(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "scenes_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
