// plane_field [--json FILE] [--side ours|peer] [SCENARIO...]: what comes of the same work here and
// with Karpenter's own controller, each in turn on a control plane of its own: seconds, claims,
// evictions, dollars, requests, CPU and memory. Prints figures; nothing passes or fails.
// MILLWRIGHT_PLANE names the control plane's programs, MILLWRIGHT_PEER_CONTROLLER the peer's
// folder.

#include "plane/field/run.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace {

using namespace millwright;
namespace json = boost::json;

struct Arguments {
  std::string json_file;
  std::string only_side;
  std::vector<std::string> scenarios;
};

Arguments read_arguments(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const bool has_value = i + 1 < argc;
    if (argument == "--json" && has_value) {
      arguments.json_file = argv[++i];
    } else if (argument == "--side" && has_value) {
      arguments.only_side = argv[++i];
    } else {
      arguments.scenarios.push_back(argument);
    }
  }
  return arguments;
}

void print_heading() {
  std::printf("%-24s %-6s %7s %7s %7s %7s %6s %6s %6s %6s %8s %8s %8s %7s %7s %6s\n", "phase",
              "side", "claim s", "bound s", "wait s", "p99 s", "made", "gone", "evict", "nodes",
              "$/h", "$", "settle s", "calls", "cpu s", "MiB");
}

void print(const field::Row& row, const char* side) {
  const auto& f = row.figures;
  std::printf(
      "%-24s %-6s %7.2f %7.1f %7.1f %7.1f %6d %6d %6d %6d %8.3f %8.4f %8.1f %7d %7.1f %6.0f%s\n",
      row.phase.c_str(), side, f.first_claim.value_or(-1), f.all_bound.value_or(-1), f.max_pending,
      f.p99_pending, f.claims_created, f.claims_deleted, f.evicted, f.nodes, f.price_per_hour,
      f.dollars, f.settled, f.requests, f.cpu_seconds, f.peak_rss_mib,
      f.unbound > 0 ? fmt::format("  {} pods have no node", f.unbound).c_str() : "");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = read_arguments(argc, argv);
  const char* folder = std::getenv("MILLWRIGHT_PEER_CONTROLLER");
  std::map<std::string, json::object> by_phase;
  std::vector<std::string> order;
  print_heading();
  for (const auto& scenario : field::scenarios()) {
    const auto& wanted = arguments.scenarios;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), scenario.name) == wanted.end()) {
      continue;
    }
    for (const std::string side : {"peer", "ours"}) {
      if (!arguments.only_side.empty() && arguments.only_side != side) {
        continue;
      }
      auto playing =
          side == "ours" ? field::make_ours() : field::make_peer(folder == nullptr ? "" : folder);
      const auto rows = field::play(scenario, std::move(playing));
      if (!rows) {
        std::fprintf(stderr, "plane_field: %s, %s: %s\n", scenario.name.c_str(), side.c_str(),
                     rows.error().message.c_str());
        return 1;
      }
      for (const auto& row : *rows) {
        print(row, side.c_str());
        auto& entry = by_phase[row.phase];
        if (entry.empty()) {
          order.push_back(row.phase);
          entry["name"] = row.phase;
        }
        entry[side] = field::to_json(row.figures);
      }
    }
  }
  if (order.empty()) {
    std::fprintf(stderr, "plane_field: no such scenario; there are:\n");
    for (const auto& scenario : field::scenarios()) {
      std::fprintf(stderr, "  %-18s %s\n", scenario.name.c_str(), scenario.about.c_str());
    }
    return 2;
  }
  if (!arguments.json_file.empty()) {
    json::array list;
    for (const auto& name : order) {
      list.push_back(by_phase.at(name));
    }
    std::ofstream(arguments.json_file)
        << json::serialize(json::object{{"scenarios", list}}) << '\n';
  }
  return 0;
}
