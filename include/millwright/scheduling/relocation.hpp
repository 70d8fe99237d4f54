// "Take this node away and place its pods again on the others": asked for one node after another,
// as a removal of many nodes would go. Each answer costs what the node's pods cost, whatever the
// size of the cluster, and a node whose pods find no place leaves everything as it was.
//
// Rules are the planner's, so that solve() would find places for the same pods; which ones, and
// whether for all, may differ: it takes the pods of all nodes at once, in another order. Nothing is
// bought. Deterministic. For one thread.
#pragma once

#include "millwright/scheduling/plan_memory.hpp"
#include "millwright/scheduling/solve.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::scheduling {

class Relocation {
 public:
  // `problem.nodes` are the places, those that may go included. `problem.pods` are the pods that
  // may have to move, each on the node that its spec.nodeName names; others wait for a place, and
  // take one first if there is any. `order` names nodes in the order in which they are tried as
  // places; what it leaves out takes no pods. `memory` is used up to the end of the Relocation.
  Relocation(Problem problem, const std::vector<std::string>& order, PlanMemory& memory);
  Relocation(const Relocation&) = delete;
  Relocation& operator=(const Relocation&) = delete;
  ~Relocation();

  // True: the node is gone, and its pods, those that came from earlier ones too, are elsewhere.
  // False: one of them finds no place, or the node is not known, and nothing has changed.
  bool remove(std::string_view node);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace millwright::scheduling
