// plane_flood [NODES [PODS_PER_SECOND [SECONDS]]]: how long kube-scheduler's calls take while
// others flood every port of the controller, and how much memory that costs; first and last with
// nobody, then with each kind of assault, then with all of them, without and with a stolen
// certificate of the extender's caller. Attacker, control plane and controller share one machine;
// the attacker yields to all others. Prints figures; nothing passes or fails.

#include "plane/flood/scene.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace millwright;
using plane::Assault;
using plane::Flood;

void print(const std::string& name, const plane::Outcome& outcome) {
  const auto& waits = outcome.calls.milliseconds;
  fmt::print("{}{}\n", name, outcome.settled ? "" : " (not all in time)");
  fmt::print("  {} pods bound, kube-scheduler went on without an answer {} times\n", outcome.bound,
             outcome.skipped);
  fmt::print("  a call beside it: p50 {:.1f} ms, p99 {:.1f} ms, max {:.1f} ms, {} of {} failed\n",
             plane::quantile_of(waits, 0.5), plane::quantile_of(waits, 0.99),
             plane::quantile_of(waits, 1), outcome.calls.failed,
             outcome.calls.failed + waits.size());
  fmt::print("  filter in the server: p50 <= {:g} ms, p99 <= {:g} ms\n", outcome.served_p50,
             outcome.served_p99);
  fmt::print("  kube-scheduler's choice of a node: p99 <= {:g} ms\n", outcome.chosen_p99);
  fmt::print("  {:.0f} MiB at most; /readyz failed {} times in a row at most\n",
             static_cast<double>(outcome.peak_kib) / 1024, outcome.unready_in_a_row);
  if (outcome.strikes > 0) {
    fmt::print("  {} strikes; answers: {} good, {} refused, {} for want of room\n", outcome.strikes,
               outcome.answers.accepted, outcome.answers.refused, outcome.answers.overloaded);
  }
  std::fflush(stdout);
}

std::vector<std::pair<std::string, Flood>> floods() {
  std::vector<std::pair<std::string, Flood>> all;
  all.emplace_back("nobody", Flood{});
  for (const Assault assault : plane::kAssaults) {
    all.emplace_back(plane::name_of(assault), Flood{.assaults = {assault}});
  }
  const std::vector<Assault> everything(plane::kAssaults.begin(), plane::kAssaults.end());
  all.emplace_back("all, without the certificate",
                   Flood{.assaults = everything, .with_certificate = false});
  all.emplace_back("all, some with the certificate", Flood{.assaults = everything});
  all.emplace_back("nobody any more", Flood{});
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const int nodes = argc > 1 ? std::atoi(argv[1]) : 100;
  const int rate = argc > 2 ? std::atoi(argv[2]) : 20;
  const int length = argc > 3 ? std::atoi(argv[3]) : 15;
  const auto scene = plane::Scene::start({.nodes = nodes});
  if (!scene) {
    fmt::print(stderr, "plane_flood: {}\n", scene.error().message);
    return 1;
  }
  fmt::print("{} pods a second on {} nodes, for {} s each; the shipped limit of memory is {} MiB\n",
             rate, nodes, length, (*scene)->memory_limit_kib() / 1024);
  int number = 0;
  for (const auto& [name, flood] : floods()) {
    print(name, (*scene)->play({.name = fmt::format("round-{}", ++number),
                                .pods = rate * length,
                                .pods_per_second = rate,
                                .flood = flood}));
  }
  return 0;
}
