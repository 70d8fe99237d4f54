// plane_field [--json FILE] [--side ours|peer] [--replicas N] [--minutes N] [--forecast]
//             [--record FOLDER] [SCENARIO...]
// What comes of the same work here and with Karpenter's own controller, each in turn on a control
// plane of its own: seconds, claims, evictions, dollars, requests, CPU and memory. Prints
// figures, and which of ours miss their target; nothing passes or fails. MILLWRIGHT_PLANE names
// the control plane's programs, MILLWRIGHT_PEER_CONTROLLER the peer's folder.

#include "plane/field/comparison.hpp"
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
  std::size_t replicas = 1;  // of ours
  std::optional<double> minutes;
  bool forecast = false;   // of ours
  std::string recordings;  // a folder
  std::vector<std::string> scenarios;
};

// nullopt: they make no sense.
std::optional<Arguments> read_arguments(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (!argument.starts_with("--")) {
      arguments.scenarios.push_back(argument);
      continue;
    }
    if (argument == "--forecast") {
      arguments.forecast = true;
      continue;
    }
    const std::string value = i + 1 < argc ? argv[++i] : "";
    if (argument == "--json" && !value.empty()) {
      arguments.json_file = value;
    } else if (argument == "--record" && !value.empty()) {
      arguments.recordings = value;
    } else if (argument == "--side" && (value == "ours" || value == "peer")) {
      arguments.only_side = value;
    } else if (argument == "--replicas" && std::atoi(value.c_str()) > 0) {
      arguments.replicas = static_cast<std::size_t>(std::atoi(value.c_str()));
    } else if (argument == "--minutes" && std::strtod(value.c_str(), nullptr) > 0) {
      arguments.minutes = std::strtod(value.c_str(), nullptr);
    } else {
      return std::nullopt;
    }
  }
  return arguments;
}

// Those that were asked for, or all; none when one is not known.
std::vector<field::Scenario> scenarios_of(const Arguments& arguments) {
  const auto all = field::scenarios(arguments.minutes);
  if (arguments.scenarios.empty()) {
    return all;
  }
  std::vector<field::Scenario> wanted;
  for (const auto& name : arguments.scenarios) {
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const auto& scenario) { return scenario.name == name; });
    if (found == all.end()) {
      return {};
    }
    wanted.push_back(*found);
  }
  return wanted;
}

int usage() {
  std::fputs(
      "usage: plane_field [--json FILE] [--side ours|peer] [--replicas N] [--minutes N] "
      "[--forecast] [--record FOLDER] [SCENARIO...]\n"
      "--replicas of ours behind one Service; --minutes shortens jobs and random-walk; --forecast\n"
      "asks what-if before each of our phases; --record writes FOLDER/SCENARIO-SIDE.jsonl, for\n"
      "`millwright replay`. Scenarios:\n",
      stderr);
  for (const auto& scenario : field::scenarios()) {
    std::fputs(fmt::format("  {:<16} {}\n", scenario.name, scenario.about).c_str(), stderr);
  }
  return 2;
}

int width_of(const field::FigureKind& kind) {
  return std::max(static_cast<int>(kind.heading.size()), kind.digits + 4) + 1;
}

void print_heading() {
  std::string line = fmt::format("{:<24} {:<4}", "phase", "side");
  for (const auto& kind : field::kFigures) {
    line += fmt::format("{:>{}}", kind.heading, width_of(kind));
  }
  std::puts(line.c_str());
}

void print_row(const std::string& phase, const std::string& side, const field::Figures& figures) {
  std::string line = fmt::format("{:<24} {:<4}", phase, side);
  for (const auto& kind : field::kFigures) {
    const auto& value = figures.*kind.value;
    const auto text = value ? fmt::format("{:.{}f}", *value, kind.digits) : std::string("-");
    line += fmt::format("{:>{}}", text, width_of(kind));
  }
  std::puts(line.c_str());
  if (figures.outlook) {
    std::puts(fmt::format("  forecast: {:.0f} nodes, {:.3f} $/h", figures.outlook->nodes,
                          figures.outlook->price_per_hour)
                  .c_str());
  }
  std::string last;
  for (const auto& [key, reason] : figures.reasons) {
    if (reason != last) {
      std::puts(fmt::format("  {}: {}", key, reason).c_str());
    }
    last = reason;
  }
  std::fflush(stdout);
}

void write_json(const std::string& file, const std::vector<field::Pair>& pairs) {
  json::array list;
  for (const auto& pair : pairs) {
    list.push_back(field::to_json(pair));
  }
  std::ofstream(file) << json::serialize(json::object{{"scenarios", list}}) << '\n';
}

void print_comparison(const std::vector<field::Pair>& pairs) {
  std::size_t missed = 0;
  for (const auto& pair : pairs) {
    std::puts(("\n" + field::comparison_text(pair)).c_str());
    missed += field::missed_targets(pair).size();
  }
  std::puts(fmt::format("{} targets missed", missed).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = read_arguments(argc, argv);
  const auto scenarios = arguments ? scenarios_of(*arguments) : std::vector<field::Scenario>();
  if (scenarios.empty()) {
    return usage();
  }
  const char* folder = std::getenv("MILLWRIGHT_PEER_CONTROLLER");
  std::vector<field::Pair> pairs;
  print_heading();
  for (const auto& scenario : scenarios) {
    const std::size_t first = pairs.size();
    for (const auto& phase : scenario.phases) {
      if (phase.measured) {
        pairs.push_back({.phase = phase});
      }
    }
    for (const std::string side : {"peer", "ours"}) {
      if (!arguments->only_side.empty() && arguments->only_side != side) {
        continue;
      }
      std::size_t next = first;
      auto playing = side == "ours" ? field::make_ours(arguments->replicas)
                                    : field::make_peer(folder == nullptr ? "" : folder);
      field::play(scenario, std::move(playing),
                  [&](const field::Phase& phase, field::Figures figures) {
                    print_row(phase.name, side, figures);
                    auto& pair = pairs[next++];
                    (side == "ours" ? pair.ours : pair.peer) = std::move(figures);
                  },
                  {.forecast = arguments->forecast && side == "ours",
                   .recording = arguments->recordings.empty()
                                    ? std::string()
                                    : fmt::format("{}/{}-{}.jsonl", arguments->recordings,
                                                  scenario.name, side)});
    }
    std::for_each(pairs.begin() + static_cast<std::ptrdiff_t>(first), pairs.end(),
                  field::add_dollars_until_both);
    if (!arguments->json_file.empty()) {
      write_json(arguments->json_file, pairs);  // now: a later scenario may be interrupted
    }
  }
  print_comparison(pairs);
  return 0;
}
