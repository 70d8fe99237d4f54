// Every scenario and random problems through both planners. What Karpenter decides otherwise on a
// scenario is argued in docs/conformance.md, or it is a fault. On random problems (PEER_PLANS of
// them, from SEED on) we place what Karpenter can place; SEED=7 PEER_PLANS=1 shows both plans. The
// same with devices: --gtest_filter=*Devices*.
#include "peer/runner/peer.hpp"

#include "checker/files/scenario.hpp"
#include "checker/plan/checker.hpp"
#include "checker/plan/random_world.hpp"
#include "peer/suite/difference.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace millwright::peer {
namespace {

std::uint32_t from_environment(const char* name, std::uint32_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10));
}

// Karpenter applies overlays before its scheduler sees the instance types.
bool has_overlays(const std::filesystem::path& path) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line == "kind: NodeOverlay") {
      return true;
    }
  }
  return false;
}

std::vector<std::string> scenario_files() {
  std::vector<std::string> result;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(SOURCE_ROOT) + "/test/scenarios")) {
    if (entry.path().extension() == ".yaml" && !has_overlays(entry.path())) {
      result.push_back(entry.path());
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

// The first column of the table under "Scenarios that Karpenter decides otherwise".
std::set<std::string> argued() {
  std::ifstream document(std::string(SOURCE_ROOT) + "/docs/conformance.md");
  std::set<std::string> result;
  bool inside = false;
  for (std::string line; std::getline(document, line);) {
    if (line.starts_with("## ")) {
      inside = line == "## Scenarios that Karpenter decides otherwise";
    } else if (inside && line.starts_with("| ")) {
      std::istringstream cells(line.substr(2, line.find(" |", 2) - 2));
      for (std::string name; cells >> name;) {
        result.insert(name.substr(0, name.find(',')));
      }
    }
  }
  return result;
}

class PeerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (program_path().empty()) {
      GTEST_SKIP() << "MILLWRIGHT_PEER is not set: run scripts/test peer";
    }
  }
};

TEST_F(PeerTest, WhatKarpenterDecidesOtherwiseOnAScenarioIsArgued) {
  const auto files = scenario_files();
  auto plans = run_peer(program_path(), files);
  ASSERT_TRUE(plans.has_value()) << plans.error().message;
  const auto known = argued();
  ASSERT_FALSE(known.empty());
  int alike = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string name = std::filesystem::path(files[i]).stem();
    const auto scenario = checker::read_scenario_file(files[i]);
    ASSERT_TRUE(scenario.has_value()) << name << ": " << scenario.error().message;
    price_claims(scenario->problem, (*plans)[i].plan);
    const auto found = difference(scheduling::solve(scenario->problem), (*plans)[i].plan);
    if (found.none()) {
      ++alike;
    } else {
      std::printf("  %-28s %s\n", name.c_str(), found.text().c_str());
    }
    EXPECT_TRUE(!found.decides_otherwise() || known.contains(name))
        << name << ": " << found.text() << "\n  " << scenario->title;
  }
  std::printf("  %d of %zu scenarios end alike\n", alike, files.size());
}

struct RandomCase {
  std::uint32_t seed = 0;
  scheduling::Problem problem;
};

// Worlds without what only Millwright knows, written to a folder and read back.
class RandomCases {
 public:
  RandomCases(scheduling::Problem (*make)(std::uint32_t), std::uint32_t first, std::uint32_t count)
      : folder_(std::filesystem::temp_directory_path() / ("peer-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
    for (std::uint32_t seed = first; seed < first + count; ++seed) {
      const std::string file = folder_ / (std::to_string(seed) + ".jsonl");
      scheduling::Problem made = make(seed);
      made.kept.clear();
      std::ofstream(file) << checker::write_scenario(made, "seed " + std::to_string(seed));
      auto scenario = checker::read_scenario_file(file);
      EXPECT_TRUE(scenario.has_value()) << file << ": " << scenario.error().message;
      if (scenario) {
        files.push_back(file);
        cases.push_back({seed, std::move(scenario->problem)});
      }
    }
  }
  ~RandomCases() {
    if (std::getenv("MILLWRIGHT_KEEP") == nullptr) {
      std::filesystem::remove_all(folder_);
    } else {
      std::printf("  the problems are in %s\n", folder_.c_str());
    }
  }
  RandomCases(const RandomCases&) = delete;
  RandomCases& operator=(const RandomCases&) = delete;

  std::vector<std::string> files;
  std::vector<RandomCase> cases;

 private:
  std::filesystem::path folder_;
};

struct Counts {
  std::size_t more_here = 0;   // problems in which we place more pods
  std::size_t more_there = 0;  // Karpenter does, and its plan is legal
  std::size_t illegal = 0;     // Karpenter does, by a plan that kube-scheduler would not follow
  std::size_t others = 0;      // as many pods, but others
  std::size_t cheaper = 0;
  std::size_t dearer = 0;          // and Karpenter's plan is legal
  std::size_t dearer_illegal = 0;  // it is not
  double most = 0;                 // how much dearer, as a part of Karpenter's price
  std::uint32_t most_seed = 0;
};

// Whether kube-scheduler would follow Karpenter's plan, by the checker.
bool is_legal(const scheduling::Problem& problem, scheduling::Plan& theirs, std::uint32_t seed) {
  checker::order_steps(problem, theirs);
  return checker::violations(problem, theirs, {.seed = seed}).empty();
}

void compare_with_karpenter(const RandomCases& worlds) {
  auto plans = run_peer(program_path(), worlds.files);
  ASSERT_TRUE(plans.has_value()) << plans.error().message;
  Counts counts;
  for (std::size_t i = 0; i < worlds.cases.size(); ++i) {
    const auto& [seed, problem] = worlds.cases[i];
    scheduling::Plan& theirs = (*plans)[i].plan;
    price_claims(problem, theirs);
    const scheduling::Plan ours = scheduling::solve(problem);
    const auto found = difference(ours, theirs);
    if (found.refused_here.empty() && found.refused_there.empty()) {
      counts.cheaper += found.dearer < -1e-6 ? 1 : 0;
      if (found.dearer > 1e-6) {
        const double part = found.dearer / total_price(theirs);
        const bool legal = is_legal(problem, theirs, seed);
        ++(legal ? counts.dearer : counts.dearer_illegal);
        if (legal) {
          std::printf("  SEED=%u: Karpenter is cheaper; %s\n", seed, found.text().c_str());
        }
        if (legal && part > counts.most) {
          counts.most = part;
          counts.most_seed = seed;
        }
      }
    } else if (found.refused_here.size() < found.refused_there.size()) {
      ++counts.more_here;
    } else if (found.refused_here.size() == found.refused_there.size()) {
      ++counts.others;
    } else {
      const bool legal = is_legal(problem, theirs, seed);
      ++(legal ? counts.more_there : counts.illegal);
      if (legal) {
        std::printf("  SEED=%u: Karpenter places more; %s\n", seed, found.text().c_str());
      }
    }
    if (worlds.cases.size() == 1) {
      checker::order_steps(problem, theirs);
      std::printf("%s\nours\n%s\nKarpenter's\n%s\n", found.text().c_str(),
                  checker::describe(problem, ours).c_str(),
                  checker::describe(problem, theirs).c_str());
    }
  }
  std::printf(
      "  of %zu problems: we place more pods in %zu, Karpenter in %zu by a legal plan and in "
      "%zu by one that is not; as many but others in %zu; with the same pods we are cheaper "
      "in %zu, dearer in %zu than a legal plan (at most by %.0f %% with SEED=%u) and in %zu than "
      "one "
      "that is not\n",
      worlds.cases.size(), counts.more_here, counts.more_there, counts.illegal, counts.others,
      counts.cheaper, counts.dearer, 100 * counts.most, counts.most_seed, counts.dearer_illegal);
}

TEST_F(PeerTest, WeScheduleWhatKarpenterCan) {
  compare_with_karpenter(RandomCases(checker::random_world, from_environment("SEED", 1),
                                     from_environment("PEER_PLANS", 500)));
}

TEST_F(PeerTest, WeGiveDevicesToWhomKarpenterCan) {
  compare_with_karpenter(RandomCases(checker::random_world_with_devices,
                                     from_environment("SEED", 1),
                                     from_environment("PEER_PLANS", 200)));
}

}  // namespace
}  // namespace millwright::peer
