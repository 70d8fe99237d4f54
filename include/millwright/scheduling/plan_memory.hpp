// What one plan worked out that the next need not work out again: catalogs of instance types with
// their bitsets, NodePools and their room, nodes. For a planner that is asked again and again about
// the same cluster; a burst of a few pods then costs what the pods cost.
#pragma once

#include "millwright/scheduling/solve.hpp"

#include <memory>
#include <string>
#include <vector>

namespace millwright::scheduling {

// A NodePool that may grow and for which nothing can be bought, whatever the pods ask for.
struct PoolProblem {
  std::string node_pool;
  std::string problem;  // "its requirements filter out all instance types"
  friend bool operator==(const PoolProblem&, const PoolProblem&) = default;
};

class DeviceMemory;  // src/scheduling/devices

// Things are known by identity: the same NodeRecord, the same list of instance types, the same
// NodePool (or one of the same uid and generation), as snapshots share them. What has changed is a
// new object, and is compiled anew. Only what the last problem had is kept. For one thread at a
// time.
class PlanMemory {
 public:
  PlanMemory();
  PlanMemory(PlanMemory&&) noexcept;
  PlanMemory& operator=(PlanMemory&&) noexcept;
  ~PlanMemory();

  // Of the last problem, in the order in which NodePools are tried.
  std::vector<PoolProblem> pool_problems() const;

  struct Compiled;  // src/scheduling/compiled_problem.hpp

 private:
  friend Plan solve(const Problem& problem, PlanMemory& memory);
  friend class Relocation;
  std::unique_ptr<Compiled> compiled_;
  std::unique_ptr<DeviceMemory> devices_;
};

// The plan of solve(problem), byte for byte, whatever is remembered.
Plan solve(const Problem& problem, PlanMemory& memory);

}  // namespace millwright::scheduling
