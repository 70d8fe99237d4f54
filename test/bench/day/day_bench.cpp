// day_bench [--nodes N] [--hours N] [--side ours|peer] [--commands] [--json FILE]: a cluster whose
// load rises and falls over a day, in virtual time: the sandbox's API server, scheduler and
// kubelets, and the real engine. Played twice, with Millwright's removal and with Karpenter's rules
// in its place (emptiness, then consolidate_as_karpenter); everything else is the same, purchases
// too. The NodePool is Karpenter's default: consolidateAfter 0s and a budget of 10 %.
#include "disruption/methods/consolidation/consolidation.hpp"
#include "disruption/methods/methods.hpp"
#include "millwright/base/random.hpp"
#include "support/virtual_cluster.hpp"

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
#include <string_view>
#include <utility>
#include <vector>

namespace {

namespace app = millwright::app;
namespace base = millwright::base;
namespace cloud = millwright::cloud;
namespace disruption = millwright::disruption;
namespace json = boost::json;
namespace model = millwright::model;
using millwright::test::VirtualCluster;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::uint64_t kSeed = 42;
constexpr auto kStep = minutes(5);
constexpr double kLeastLoad = 0.3;  // of the largest
constexpr double kPodsPerNode = 4;  // that the planner puts on machines of up to 8 CPUs

constexpr std::string_view kPool = R"(
apiVersion: karpenter.kwok.sh/v1alpha1
kind: KWOKNodeClass
metadata: {name: default}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
      requirements:
        - {key: kubernetes.io/os, operator: In, values: [linux]}
        - {key: kubernetes.io/arch, operator: In, values: [amd64]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
        - {key: karpenter.kwok.sh/instance-cpu, operator: Lt, values: ["9"]}
  disruption:
    consolidationPolicy: WhenEmptyOrUnderutilized
    consolidateAfter: 0s
)";

struct Options {
  int nodes = 500;
  int hours = 24;
  std::string side;       // to be played; empty: both
  bool commands = false;  // to be printed
  std::string json_file;
};

// A Deployment whose replicas follow the time of day, a little ahead of the others or behind them.
struct Workload {
  std::string name;
  int milli_cpu = 0;
  int mebibytes = 0;
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
    all.push_back({.name = "app-" + std::to_string(i),
                   .milli_cpu = static_cast<int>(100 + 100 * random.below(15)),
                   .mebibytes = static_cast<int>(256 + 256 * random.below(12)),
                   .most = static_cast<int>(nodes * kPodsPerNode / kCount * (0.5 + random.unit())),
                   .ahead = minutes(random.below(180))});
  }
  return all;
}

json::value deployment(const Workload& workload, int replicas) {
  const json::object requests{{"cpu", std::to_string(workload.milli_cpu) + "m"},
                              {"memory", std::to_string(workload.mebibytes) + "Mi"}};
  const json::array containers{json::object{
      {"name", "app"}, {"image", "registry.example/app"}, {"resources", {{"requests", requests}}}}};
  return {{"apiVersion", "apps/v1"},
          {"kind", "Deployment"},
          {"metadata", {{"name", workload.name}, {"namespace", "default"}}},
          {"spec",
           {{"replicas", replicas},
            {"selector", {{"matchLabels", {{"app", workload.name}}}}},
            {"template",
             {{"metadata", {{"labels", {{"app", workload.name}}}}},
              {"spec", {{"containers", containers}}}}}}}};
}

template <class Outcome>
void must(const Outcome& outcome) {
  if (!outcome) {
    throw std::runtime_error(outcome.error().message);
  }
}

void create_pool(VirtualCluster& cluster) {
  const auto documents = model::parse_yaml(kPool);
  must(documents);
  for (const auto& document : *documents) {
    const auto* resource = model::find_by_kind(std::string(document.at("apiVersion").as_string()),
                                               std::string(document.at("kind").as_string()));
    must(cluster.cluster->world().api().create(*resource, document));
  }
}

// Emptiness, then Karpenter's consolidation. Hysteresis and what a node costs beside its instance
// are ours alone; Options::settle_time stays, as Karpenter validates a decision 15 s after it.
disruption::Decisions decide_as_karpenter(const disruption::Input& ours) {
  auto input = ours;
  input.settle_times.clear();
  input.idle_times.clear();
  input.options.node_overhead = 0;
  // Nobody asks here why a node stays.
  disruption::Decisions decisions;
  disruption::Survey survey(input, {});
  auto command = disruption::remove_empty(survey);
  if (!command) {
    command = disruption::consolidate_as_karpenter(survey);
  }
  if (command) {
    decisions.commands.push_back(*std::move(command));
  }
  return decisions;
}

disruption::Decisions shown(disruption::Decisions decisions) {
  for (const auto& command : decisions.commands) {
    std::printf("  %zu pods %s\n", command.placements.size(), command.summary.c_str());
  }
  return decisions;
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

double evictions(const VirtualCluster& cluster) {
  return cluster.cluster->metrics().value("karpenter_pods_eviction_requests_total",
                                          {{"code", "200"}});
}

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
Day play(const Options& options, bool as_karpenter) {
  app::EmbeddedOptions embedded;
  embedded.seed = kSeed;
  embedded.profiles = {cloud::Profile::Kwok};
  if (as_karpenter) {
    embedded.controllers.decide = decide_as_karpenter;
  }
  if (options.commands) {
    embedded.controllers.decide = [decide = embedded.controllers.decide](const auto& input) {
      return shown(decide(input));
    };
  }
  const auto cpu_begin = std::clock();
  VirtualCluster cluster(std::move(embedded));
  auto& world = cluster.cluster->world();
  create_pool(cluster);
  const auto all = workloads(options.nodes);
  for (const auto& workload : all) {
    must(world.api().create(model::kDeploymentResource,
                            deployment(workload, workload.replicas(base::Duration{}))));
  }
  cluster.loop.run_for(hours(1));
  const auto begin = cluster.loop.now();
  const auto evicted_before = evictions(cluster);
  Day day;
  for (base::Duration time{}; time < hours(options.hours); time += kStep) {
    for (const auto& workload : all) {
      must(world.api().update(model::kDeploymentResource,
                              {.namespace_ = "default", .name = workload.name},
                              [replicas = workload.replicas(time)](json::value& object) {
                                object.at("spec").as_object()["replicas"] = replicas;
                              }));
    }
    cluster.loop.run_until(begin + time + kStep);
    const auto view = world.recorder().view();
    day.samples.push_back(
        {.hour = std::chrono::duration<double, std::ratio<3'600>>(time + kStep).count(),
         .price = view.price_per_hour,
         .nodes = view.nodes.size(),
         .pods = view.pods_running,
         .evicted = evictions(cluster) - evicted_before});
    if (day.samples.size() % 12 == 0) {
      std::printf("  %s after %.0f h: %zu nodes, %zu pods, $%.2f/h, %.0f evicted\n",
                  as_karpenter ? "Karpenter's rules" : "Millwright", day.samples.back().hour,
                  view.nodes.size(), view.pods_running, view.price_per_hour,
                  day.samples.back().evicted);
      std::fflush(stdout);
    }
  }
  const auto end = cluster.loop.now();
  const auto types = cluster.cluster->cloud(cloud::Profile::Kwok)
                         ->instance_types(model::NodePool{}, model::NodeClass{})
                         .value();
  const auto price = [&](const model::StringMap& labels) {
    return millwright::scheduling::price_of(types, labels);
  };
  for (const auto& [uid, claim] : world.recorder().claims()) {
    day.dollars += dollars_of(claim, price, begin, end);
    day.machines += claim.created >= begin ? 1 : 0;
  }
  for (const auto& [uid, pod] : world.recorder().pods()) {
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

void show(const char* name, const Day& day) {
  std::printf(
      "%-18s $%9.2f  evicted %6.0f  machines bought %5zu  most nodes %4zu  longest wait "
      "%5.1f s  (%.0f s of CPU)\n",
      name, day.dollars, day.evicted, day.machines, day.most_nodes(), day.longest_wait,
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
    for (const auto& [side, name] :
         {std::pair{"ours", "Millwright"}, std::pair{"peer", "Karpenter's rules"}}) {
      if (options.side.empty() || options.side == side) {
        const auto day = play(options, side == std::string_view("peer"));
        show(name, day);
        figures.emplace(side, json_of(day));
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
