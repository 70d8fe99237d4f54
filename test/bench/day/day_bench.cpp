// day_bench [--nodes N] [--hours N] [--side ours|peer] [--commands] [--json FILE]: a cluster whose
// load rises and falls over a day, in virtual time: the sandbox's API server, scheduler and
// kubelets, and the real engine. Played twice, with Millwright's removal and with Karpenter's rules
// in its place (emptiness, then consolidate_as_karpenter); everything else is the same, purchases
// too. The NodePool is Karpenter's default: consolidateAfter 0s and a budget of 10 %.
#include "bench/day/played_cluster.hpp"
#include "millwright/base/random.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <numbers>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace base = millwright::base;
namespace json = boost::json;
namespace model = millwright::model;
using millwright::bench::PlayedCluster;
using millwright::bench::PlayedWork;
using millwright::bench::Side;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::uint64_t kSeed = 42;
constexpr auto kStep = minutes(5);
constexpr double kLeastLoad = 0.3;  // of the largest
constexpr double kPodsPerNode = 4;  // that the planner puts on machines of up to 8 CPUs

struct Options {
  int nodes = 500;
  int hours = 24;
  std::string side;       // to be played; empty: both
  bool commands = false;  // to be printed
  std::string json_file;
};

// A Deployment whose replicas follow the time of day, a little ahead of the others or behind them.
struct Workload {
  PlayedWork work;
  int most = 0;
  base::Duration ahead{};

  int replicas(base::Duration time) const {
    const double day = std::chrono::duration<double, std::ratio<86'400>>(time + ahead).count();
    const double load = (1 - std::cos(2 * std::numbers::pi * day)) / 2;
    return static_cast<int>(std::lround(most * (kLeastLoad + (1 - kLeastLoad) * load)));
  }
};

std::vector<Workload> workloads(int nodes) {
  constexpr int kCount = 40;
  base::Random random(kSeed);
  std::vector<Workload> all;
  for (int i = 0; i < kCount; ++i) {
    all.push_back({.work = {.name = "app-" + std::to_string(i),
                            .milli_cpu = static_cast<int>(100 + 100 * random.below(15)),
                            .mebibytes = static_cast<int>(256 + 256 * random.below(12))},
                   .most = static_cast<int>(nodes * kPodsPerNode / kCount * (0.5 + random.unit())),
                   .ahead = minutes(random.below(180))});
  }
  return all;
}

const char* name_of(Side side) {
  return side == Side::Ours ? "Millwright" : "Karpenter's rules";
}

struct Sample {
  double hour = 0;
  double price = 0;  // $/h
  std::size_t nodes = 0;
  std::size_t pods = 0;
  double evicted = 0;  // since the day began
};

struct Day {
  std::vector<Sample> samples;
  double dollars = 0;
  double evicted = 0;
  std::size_t machines = 0;  // bought
  double longest_wait = 0;   // of a pod for its node, in seconds
  double cpu_seconds = 0;    // of the whole simulation

  std::size_t most_nodes() const {
    std::size_t most = 0;
    for (const auto& sample : samples) {
      most = std::max(most, sample.nodes);
    }
    return most;
  }
};

double dollars_of(const millwright::sandbox::ClaimRecord& claim,
                  const millwright::sandbox::Recorder::PriceLookup& price, base::TimePoint begin,
                  base::TimePoint end) {
  if (!claim.launched) {
    return 0;
  }
  const auto from = std::max(*claim.launched, begin);
  const auto until = claim.gone.value_or(end);
  const std::chrono::duration<double, std::ratio<3'600>> time = until - from;
  return std::max(0.0, time.count()) * price(claim.last->meta.labels).value_or(0);
}

// One day of the workloads, after the cluster has come up and settled for an hour.
Day play(const Options& options, Side side) {
  const auto cpu_begin = std::clock();
  PlayedCluster cluster(
      {.side = side, .cpus_below = 9, .budget = "10%", .show_commands = options.commands});
  const auto all = workloads(options.nodes);
  for (const auto& workload : all) {
    cluster.deploy(workload.work, workload.replicas(base::Duration{}));
  }
  cluster.run_for(hours(1));
  const auto begin = cluster.now();
  const auto evicted_before = cluster.evictions();
  Day day;
  for (base::Duration time{}; time < hours(options.hours); time += kStep) {
    for (const auto& workload : all) {
      cluster.scale(workload.work.name, workload.replicas(time));
    }
    cluster.run_until(begin + time + kStep);
    const auto view = cluster.recorder().view();
    day.samples.push_back(
        {.hour = std::chrono::duration<double, std::ratio<3'600>>(time + kStep).count(),
         .price = view.price_per_hour,
         .nodes = view.nodes.size(),
         .pods = view.pods_running,
         .evicted = cluster.evictions() - evicted_before});
    if (day.samples.size() % 12 == 0) {
      std::printf("  %s after %.0f h: %zu nodes, %zu pods, $%.2f/h, %.0f evicted\n", name_of(side),
                  day.samples.back().hour, view.nodes.size(), view.pods_running,
                  view.price_per_hour, day.samples.back().evicted);
      std::fflush(stdout);
    }
  }
  const auto end = cluster.now();
  const auto types = cluster.types();
  const auto price = [&](const model::StringMap& labels) {
    return millwright::scheduling::price_of(types, labels);
  };
  for (const auto& [uid, claim] : cluster.recorder().claims()) {
    day.dollars += dollars_of(claim, price, begin, end);
    day.machines += claim.created >= begin ? 1 : 0;
  }
  for (const auto& [uid, pod] : cluster.recorder().pods()) {
    if (pod.created >= begin && pod.bound) {
      const std::chrono::duration<double> wait = *pod.bound - pod.created;
      day.longest_wait = std::max(day.longest_wait, wait.count());
    }
  }
  day.evicted = day.samples.back().evicted;
  day.cpu_seconds = static_cast<double>(std::clock() - cpu_begin) / CLOCKS_PER_SEC;
  return day;
}

json::object json_of(const Day& day) {
  json::array samples;
  for (const auto& sample : day.samples) {
    samples.push_back(json::object{{"hour", sample.hour},
                                   {"pricePerHour", sample.price},
                                   {"nodes", sample.nodes},
                                   {"pods", sample.pods},
                                   {"evicted", sample.evicted}});
  }
  return {{"dollars", day.dollars},        {"evicted", day.evicted},
          {"machines", day.machines},      {"longestWait", day.longest_wait},
          {"cpuSeconds", day.cpu_seconds}, {"samples", std::move(samples)}};
}

void show(Side side, const Day& day) {
  std::printf(
      "%-18s $%9.2f  evicted %6.0f  machines bought %5zu  most nodes %4zu  longest wait "
      "%5.1f s  (%.0f s of CPU)\n",
      name_of(side), day.dollars, day.evicted, day.machines, day.most_nodes(), day.longest_wait,
      day.cpu_seconds);
}

Options read(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--commands") {
      options.commands = true;
    } else if (i + 1 == argc) {
      throw std::runtime_error(word + " is no option, or wants a value");
    } else if (word == "--json") {
      options.json_file = argv[++i];
    } else if (word == "--nodes") {
      options.nodes = std::max(1, std::atoi(argv[++i]));
    } else if (word == "--hours") {
      options.hours = std::max(1, std::atoi(argv[++i]));
    } else if (word == "--side") {
      options.side = argv[++i];
      if (options.side != "ours" && options.side != "peer") {
        throw std::runtime_error("no side " + options.side + "; there are ours and peer");
      }
    } else {
      throw std::runtime_error("no option " + word +
                               "; there are --nodes, --hours, --side, --commands and --json");
    }
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto options = read(argc, argv);
    json::object figures{{"hours", options.hours}};
    for (const auto side : {Side::Ours, Side::Peer}) {
      const std::string word = side == Side::Ours ? "ours" : "peer";
      if (options.side.empty() || options.side == word) {
        const auto day = play(options, side);
        show(side, day);
        figures.emplace(word, json_of(day));
      }
    }
    if (!options.json_file.empty()) {
      std::ofstream(options.json_file) << json::serialize(figures) << '\n';
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "day_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
