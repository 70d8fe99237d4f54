// consolidate_bench [FILTER] [--nodes N,N...] [--full] [--peer-seconds N] [--commands]
// [--json FILE]: clusters made by the planner lose 20, 50 or 80 % of their pods; then nodes are
// removed until nothing more is found, by our decisions and by Karpenter's rules
// (consolidate_as_karpenter), on the same cluster. Commands are carried out at once and as they
// were planned; every pool's budget is 100 %, so that the number of rounds says how much one
// decision finds. --peer-seconds ends Karpenter's side once its decisions have taken so much CPU
// time: what it has come to by then is marked, and its price could still fall. --commands prints
// what is decided. FILTER: a part of "catalog/mix/how/per cent/nodes".
#include "bench/consolidate/clusters.hpp"
#include "bench/consolidate/pods_deleted.hpp"
#include "bench/consolidate/settling.hpp"
#include "bench/scheduling/aws_types.hpp"
#include "bench/scheduling/lower_bound.hpp"
#include "bench/scheduling/worlds.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

namespace disruption = millwright::disruption;
namespace scheduling = millwright::scheduling;
using disruption::bench::Decide;
using disruption::bench::Deleted;
using disruption::bench::LiveCluster;
using disruption::bench::Outcome;

constexpr std::uint32_t kSeed = 42;

struct Options {
  std::string filter;
  std::vector<int> nodes = {100};
  bool commands = false;  // to be printed
  double peer_seconds = std::numeric_limits<double>::infinity();
  std::string json_file;
};

Outcome settle_and_show(const LiveCluster& cluster, const Decide& decide, bool show,
                        double most_seconds = std::numeric_limits<double>::infinity()) {
  const auto seen = [show](const disruption::Command& command, double seconds) {
    if (show) {
      std::printf("  %.3fs %zu for %zu %s\n", seconds, command.replacements.size(),
                  command.claims.size(), command.summary.c_str());
    }
  };
  return settle(cluster, decide, seen, most_seconds);
}

boost::json::object json_of(const Outcome& outcome) {
  return {{"price", outcome.price},    {"nodes", outcome.nodes},     {"evicted", outcome.evicted},
          {"rounds", outcome.rounds},  {"seconds", outcome.seconds}, {"slowest", outcome.slowest},
          {"stopped", outcome.stopped}};
}

double price_of(const scheduling::Plan& plan) {
  double sum = 0;
  for (const auto& claim : plan.claims) {
    sum += claim.price;
  }
  return sum;
}

boost::json::object measure(const std::string& name, const LiveCluster& cluster,
                            const Options& options) {
  const auto ours = settle_and_show(cluster, disruption::bench::ours_next, options.commands);
  const auto peer = settle_and_show(cluster, disruption::bench::karpenters_next, options.commands,
                                    options.peer_seconds);
  const auto problem = cluster.from_scratch();
  const double scratch = price_of(scheduling::solve(problem));
  const double bound = scheduling::bench::lower_bound(problem);
  std::printf(
      "%-44s %5zu %6zu %8.3f | %8.3f %6.3f %6zu %4d %7.2f %6.2f | %8.3f %6.3f %6zu %4d %7.2f%s\n",
      name.c_str(), cluster.nodes(), cluster.pod_count(), scratch, ours.price, ours.price / scratch,
      ours.evicted, ours.rounds, ours.seconds, ours.slowest, peer.price, peer.price / scratch,
      peer.evicted, peer.rounds, peer.seconds, peer.stopped ? " stopped" : "");
  std::fflush(stdout);
  return {{"name", name},
          {"nodes", cluster.nodes()},
          {"pods", cluster.pod_count()},
          {"before", cluster.price()},
          {"ours", json_of(ours)},
          {"peer", json_of(peer)},
          {"bound", bound},
          {"fromScratch", scratch}};
}

bool is_wanted(const Options& options, const std::string& name) {
  return name.find(options.filter) != std::string::npos;
}

boost::json::array measure_all(const Options& options) {
  boost::json::array rows;
  std::printf("%-44s %5s %6s %8s | %8s %6s %6s %4s %7s %6s | %8s %6s %6s %4s %7s\n",
              "cluster after pods went", "nodes", "pods", "scratch", "ours", "/scr", "evict",
              "rnds", "s", "worst", "peer", "/scr", "evict", "rnds", "s");
  for (const auto& [catalog, types] :
       {std::pair{std::string("kwok"),
                  disruption::bench::small_types(scheduling::bench::kwok_types())},
        {"aws", disruption::bench::small_types(scheduling::bench::aws_like_types())}}) {
    for (const auto& mix : scheduling::bench::workload_mixes()) {
      for (const int nodes : options.nodes) {
        std::vector<std::tuple<std::string, Deleted, int>> cases;
        for (const auto how : {Deleted::AtRandom, Deleted::ByReplicaSets, Deleted::Deployments}) {
          for (const int per_cent : {20, 50, 80}) {
            auto name = catalog + "/" + mix.name + "/" + std::string(to_string(how)) + "/" +
                        std::to_string(per_cent) + "/" + std::to_string(nodes);
            if (is_wanted(options, name)) {
              cases.emplace_back(std::move(name), how, per_cent);
            }
          }
        }
        if (cases.empty()) {
          continue;
        }
        const auto whole = disruption::bench::cluster_of(mix, types, nodes, kSeed);
        for (const auto& [name, how, per_cent] : cases) {
          auto cluster = whole;
          cluster.remove_pods(pods_to_delete(cluster, how, per_cent, kSeed));
          rows.push_back(measure(name, cluster, options));
        }
      }
    }
  }
  return rows;
}

Options read(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--json" && i + 1 < argc) {
      options.json_file = argv[++i];
    } else if (word == "--commands") {
      options.commands = true;
    } else if (word == "--full") {
      options.nodes = {100, 1000, 5000};
    } else if (word == "--peer-seconds" && i + 1 < argc) {
      options.peer_seconds = std::atof(argv[++i]);
    } else if (word == "--nodes" && i + 1 < argc) {
      options.nodes.clear();
      std::istringstream list(argv[++i]);
      for (std::string number; std::getline(list, number, ',');) {
        options.nodes.push_back(std::max(1, std::atoi(number.c_str())));
      }
    } else {
      options.filter = word;
    }
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = read(argc, argv);
  const auto rows = measure_all(options);
  if (rows.empty()) {
    std::fprintf(stderr, "consolidate_bench: no cluster is called %s\n", options.filter.c_str());
    return 2;
  }
  if (!options.json_file.empty()) {
    std::ofstream(options.json_file)
        << boost::json::serialize(boost::json::object{{"clusters", rows}}) << '\n';
  }
  return 0;
}
