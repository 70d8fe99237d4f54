// scenes_bench [--commands]: two scenes of scripts/bench field in virtual time, with Millwright's
// removal and with Karpenter's rules in its place: a Deployment of 500 pods that is scaled to 100,
// and the replicas of three Deployments that change every few seconds for ten minutes. Machines
// have at most 16 CPUs; budgets are 100 %.
#include "bench/day/played_cluster.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
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

// What a scene has cost, looked at every second.
class Account {
 public:
  explicit Account(PlayedCluster& cluster) : cluster_(cluster), begin_(cluster.now()) {}

  double elapsed() const { return std::chrono::duration<double>(cluster_.now() - begin_).count(); }
  void run_until(double second) {
    while (elapsed() < second) {
      cluster_.run_for(seconds(1));
      const double price = cluster_.recorder().view().price_per_hour;
      dollars_ += price / 3600;
      if (price != price_) {
        price_ = price;
        at_rest_ = elapsed();
      }
    }
  }
  void print(std::string_view scene, std::string_view side) const {
    const auto& recorder = cluster_.recorder();
    std::printf(
        "%-12s %-18s NodeClaims %3zu  evicted %4.0f  at rest after %4.0f s  nodes %3zu  "
        "$%.3f/h  $%.4f in %.0f s\n",
        std::string(scene).c_str(), std::string(side).c_str(), recorder.claims().size(),
        cluster_.evictions(), at_rest_, recorder.view().nodes.size(), price_, dollars_, elapsed());
  }

 private:
  PlayedCluster& cluster_;
  millwright::base::TimePoint begin_;
  double dollars_ = 0;
  double price_ = 0;    // per hour
  double at_rest_ = 0;  // when the price changed last
};

Account shrink(PlayedCluster& cluster) {
  cluster.deploy({.name = "work", .milli_cpu = 1000, .mebibytes = 1024}, 500);
  cluster.run_for(minutes(5));
  cluster.scale("work", 100);
  Account account(cluster);
  account.run_until(600);
  return account;
}

// The walk of scripts/bench field.
Account walk(PlayedCluster& cluster) {
  constexpr std::array kMilliCpus = {500, 1000, 2000};
  std::mt19937 random(7);
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
  return account;
}

}  // namespace

int main(int argc, char** argv) {
  const bool show_commands = argc > 1 && std::string_view(argv[1]) == "--commands";
  try {
    for (const auto& [name, scene] : {std::pair{"500 to 100", &shrink}, {"walk", &walk}}) {
      for (const auto side : {Side::Ours, Side::Peer}) {
        PlayedCluster cluster(
            {.side = side, .cpus_below = 17, .budget = "100%", .show_commands = show_commands});
        scene(cluster).print(name, side == Side::Ours ? "Millwright" : "Karpenter's rules");
        std::fflush(stdout);
      }
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "scenes_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
