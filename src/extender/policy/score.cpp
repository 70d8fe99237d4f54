#include "extender/policy/score.hpp"

#include <algorithm>
#include <cmath>

namespace millwright::extender {
namespace {

constexpr int kFullest = kMaxScore - 1;
constexpr int kCouldGo = 1;    // empty: a pod here would keep a node alive
constexpr int kWillGo = 2;     // drifted: its pods will have to move
constexpr int kShortLife = 1;  // the last tenth of expireAfter

// Share of the node that would be taken; nothing when the node does not have the resource.
std::optional<double> share(std::int64_t allocatable, double taken) {
  if (allocatable <= 0) {
    return std::nullopt;
  }
  return std::clamp(taken / static_cast<double>(allocatable), 0.0, 1.0);
}

}  // namespace

int packing_score(const IndexedNode& node, const PodFacts& pod, const model::ResourceList& held,
                  base::TimePoint now) {
  const NodeFacts& facts = node.facts;
  if (facts.marked) {
    return 0;
  }
  const auto taken = [&](std::string_view resource, std::int64_t used) {
    return static_cast<double>(used) + static_cast<double>(model::get(held, resource).milli()) +
           static_cast<double>(model::get(pod.requests, resource).milli());
  };
  const auto cpu = share(facts.cpu_allocatable, taken(model::kCpu, facts.cpu_used));
  const auto memory = share(facts.memory_allocatable, taken(model::kMemory, facts.memory_used));
  const int parts = (cpu ? 1 : 0) + (memory ? 1 : 0);
  const double fullness = parts == 0 ? 0 : (cpu.value_or(0) + memory.value_or(0)) / parts;
  int score = static_cast<int>(std::lround(fullness * kFullest));
  if (facts.empty && held.empty()) {
    score = std::min(score, kCouldGo);
  }
  if (facts.drifted) {
    score = std::min(score, kWillGo);
  }
  if (facts.expires && *facts.expires - now <= facts.lifetime / 10) {
    score = std::min(score, kShortLife);
  }
  return score;
}

}  // namespace millwright::extender
