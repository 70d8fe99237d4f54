#include "scheduling/explain/explain.hpp"

#include "scheduling/explain/explain_pool.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace millwright::scheduling {
namespace {

constexpr std::size_t kShownPools = 5;

// Fewer changes are better; of as many, those that were met later.
bool is_closer(const std::vector<Obstacle>& a, const std::vector<Obstacle>& b) {
  return a.size() != b.size() ? a.size() < b.size() : a.front().stage > b.front().stage;
}

// On the rung that comes closest. Later rungs ask for less: of equal ones theirs is the one without
// preferences.
std::vector<Obstacle> closest(const Inspected& inspected, const std::vector<Rung>& ladder) {
  std::vector<Obstacle> best;
  for (const Rung& rung : ladder) {
    auto found = obstacles(inspected, rung);
    if (best.empty() || !is_closer(best, found)) {
      best = std::move(found);
    }
  }
  return best;
}

template <class Part>
std::string joined(const std::vector<Obstacle>& list, std::string_view between, Part part) {
  std::string text;
  for (const Obstacle& obstacle : list) {
    text.append(text.empty() ? "" : between).append(obstacle.*part);
  }
  return text;
}

// Empty when some obstacle has none: half of a remedy is none.
std::vector<Change> changes_of(const std::vector<Obstacle>& list) {
  std::vector<Change> all;
  for (const Obstacle& obstacle : list) {
    if (obstacle.changes.empty()) {
      return {};
    }
    all.insert(all.end(), obstacle.changes.begin(), obstacle.changes.end());
  }
  return all;
}

}  // namespace

Explanation explain(const Problem& problem, const PodClasses& pods, const PodClass& pod_class,
                    const ById<PoolId, PoolTemplate>& pools, Packing& packing) {
  const Constraint& constraint = pods.constraints[pod_class.constraint];
  if (!constraint.refusal.empty()) {
    return {constraint.refusal, constraint.remedy, {}};
  }
  if (pools.empty()) {
    return {"it fits on no node, and no NodePool may grow",
            "create a NodePool, or make an existing one Ready",
            {}};
  }
  Explanation result;
  std::vector<Obstacle> least;
  for (PoolId pool; pool < pools.end_id(); ++pool) {
    auto found = closest({problem, pods, pod_class, pools[pool], pool, packing}, constraint.ladder);
    if (pool < PoolId(kShownPools)) {
      result.reason.append(result.reason.empty() ? "" : "; ")
          .append("NodePool " + pools[pool].name() + ": " +
                  joined(found, " and ", &Obstacle::reason));
    }
    if (least.empty() || is_closer(found, least)) {
      least = std::move(found);
    }
  }
  if (pools.size() > kShownPools) {
    result.reason.append("; and " + std::to_string(pools.size() - kShownPools) + " more");
  }
  result.remedy = joined(least, ", and ", &Obstacle::change);
  result.changes = changes_of(least);
  return result;
}

}  // namespace millwright::scheduling
