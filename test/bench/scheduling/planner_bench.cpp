// planner_bench beside PEER FOLDER [speed|cost] [--full] [--json FILE]: speed and cost beside
// Karpenter's
//   scheduler (the program PEER); workload files are written to FOLDER.
// planner_bench cost [WORKLOAD] [--pods N,N...] [--whole-pods]: the cost of our plans beside the
//   bound alone; with --whole-pods also beside a better one, which takes its time.
// planner_bench growth [arriving] [--json FILE]: how time and memory grow; or only what one
// arriving pod takes.
#include "beside_peer.hpp"
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
      "       planner_bench cost [WORKLOAD] [--pods N,N...] [--whole-pods]\n"
      "       planner_bench growth [arriving] [--json FILE]\n",
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

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words;
  std::string json_file;
  bool full = false;
  millwright::scheduling::bench::PlanCostOptions cost;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--full") {
      full = true;
    } else if (word == "--whole-pods") {
      cost.whole_pods = true;
    } else if (word == "--json" && i + 1 < argc) {
      json_file = argv[++i];
    } else if (word == "--pods" && i + 1 < argc) {
      cost.pods = numbers(argv[++i]);
    } else {
      words.push_back(word);
    }
  }
  boost::json::value figures;
  if ((words.size() == 3 || words.size() == 4) && words[0] == "beside") {
    auto result = millwright::scheduling::bench::beside_peer(
        {.peer = words[1],
         .folder = words[2],
         .full = full,
         .only = words.size() == 4 ? words[3] : std::string()});
    if (!result) {
      return fail(result.error());
    }
    figures = *std::move(result);
  } else if ((words.size() == 1 || words.size() == 2) && words[0] == "cost") {
    cost.only = words.size() == 2 ? words[1] : std::string();
    if (const auto result = millwright::scheduling::bench::plan_cost(cost); !result) {
      return fail(result.error());
    }
  } else if ((words.size() == 1 || words.size() == 2) && words[0] == "growth") {
    figures = millwright::scheduling::bench::growth(words.size() == 2 ? words[1] : std::string());
  } else {
    return usage();
  }
  if (!json_file.empty()) {
    std::ofstream(json_file) << boost::json::serialize(figures) << "\n";
  }
  return 0;
}
