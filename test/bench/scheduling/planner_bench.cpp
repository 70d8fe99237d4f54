// planner_bench beside PEER FOLDER [speed|cost] [--full] [--json FILE]: speed and cost beside
// Karpenter's
//   scheduler (the program PEER); workload files are written to FOLDER.
// planner_bench cost [WORKLOAD] [--pods N,N...] [--whole-pods] [--price-ratio R]: the cost of our
//   plans beside the bound alone; with --whole-pods also beside a better one, which takes its time;
//   with --price-ratio claims list no type that costs more than R times the cheapest.
// planner_bench arrival [WORKLOAD] [--pods N,N...] [--json FILE]: what plans cost when pods come
// one
//   after another.
// planner_bench growth [arriving] [--json FILE]: how time and memory grow; or only what one
// arriving pod takes.
// planner_bench corners PEER FOLDER [NAME] [--json FILE]: time and memory beside the peer's where
// no
//   two pods are alike, and the like.
#include "arrival.hpp"
#include "beside_peer.hpp"
#include "corners.hpp"
#include "growth.hpp"
#include "plan_cost.hpp"

#include <boost/json.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

int usage() {
  std::fputs(
      "usage: planner_bench beside PEER FOLDER [speed|cost] [--full] [--json FILE]\n"
      "       planner_bench cost [WORKLOAD] [--pods N,N...] [--whole-pods] [--price-ratio R]\n"
      "       planner_bench arrival [WORKLOAD] [--pods N,N...] [--json FILE]\n"
      "       planner_bench growth [arriving] [--json FILE]\n"
      "       planner_bench corners PEER FOLDER [NAME] [--json FILE]\n",
      stderr);
  return 2;
}

int fail(const millwright::base::Error& error) {
  std::fprintf(stderr, "planner_bench: %s\n", error.message.c_str());
  return 1;
}

std::vector<int> numbers(const std::string& list) {
  std::vector<int> result;
  std::istringstream words(list);
  for (std::string word; std::getline(words, word, ',');) {
    result.push_back(std::atoi(word.c_str()));
  }
  return result;
}

namespace bench = millwright::scheduling::bench;

struct Command {
  std::vector<std::string> words;
  std::vector<int> pods;  // empty: as many as is usual
  std::string json_file;
  bool full = false;
  bool whole_pods = false;
  double price_ratio = 0;

  bool is(const std::string& name) const { return !words.empty() && words[0] == name; }
  // The word at that place, or nothing.
  std::string word(std::size_t place) const {
    return place < words.size() ? words[place] : std::string();
  }
};

Command read(int argc, char** argv) {
  Command command;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--full") {
      command.full = true;
    } else if (word == "--whole-pods") {
      command.whole_pods = true;
    } else if (word == "--price-ratio" && i + 1 < argc) {
      command.price_ratio = std::atof(argv[++i]);
    } else if (word == "--json" && i + 1 < argc) {
      command.json_file = argv[++i];
    } else if (word == "--pods" && i + 1 < argc) {
      command.pods = numbers(argv[++i]);
    } else {
      command.words.push_back(word);
    }
  }
  return command;
}

bool is_understood(const Command& command) {
  const auto count = command.words.size();
  if (command.is("beside") || command.is("corners")) {
    return count == 3 || count == 4;
  }
  return (command.is("cost") || command.is("arrival") || command.is("growth")) && count <= 2;
}

millwright::base::Result<boost::json::value> run(const Command& command) {
  if (command.is("beside")) {
    return bench::beside_peer({.peer = command.word(1),
                               .folder = command.word(2),
                               .full = command.full,
                               .only = command.word(3)});
  }
  if (command.is("cost")) {
    bench::PlanCostOptions options{.only = command.word(1),
                                   .whole_pods = command.whole_pods,
                                   .max_price_ratio = command.price_ratio};
    options.pods = command.pods.empty() ? options.pods : command.pods;
    if (const auto result = bench::plan_cost(options); !result) {
      return tl::unexpected(result.error());
    }
    return boost::json::value();
  }
  if (command.is("arrival")) {
    bench::ArrivalOptions options{.only = command.word(1)};
    options.pods = command.pods.empty() ? options.pods : command.pods;
    auto rows = bench::arrival(options);
    if (!rows) {
      return rows;
    }
    return boost::json::object{{"arrival", *std::move(rows)}};
  }
  if (command.is("corners")) {
    auto rows = bench::corners(
        {.peer = command.word(1), .folder = command.word(2), .only = command.word(3)});
    if (!rows) {
      return tl::unexpected(rows.error());
    }
    return boost::json::object{{"corners", *std::move(rows)}};
  }
  return bench::growth(command.word(1));
}

}  // namespace

int main(int argc, char** argv) {
  const Command command = read(argc, argv);
  if (!is_understood(command)) {
    return usage();
  }
  const auto figures = run(command);
  if (!figures) {
    return fail(figures.error());
  }
  if (!command.json_file.empty()) {
    std::ofstream(command.json_file) << boost::json::serialize(*figures) << "\n";
  }
  return 0;
}
