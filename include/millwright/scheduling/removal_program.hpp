// Which nodes would it be cheapest to go without, all at once? A linear program over the room of
// the whole cluster: a node is kept or gone, machines are bought, and what is kept and bought must
// have room for all pods.
//
//                  kept: node 1   node 2   node 3    bought: a machine
//     cost                 0.40     0.40     0.10               0.21       least
//     CPU                    16       16        4                  8    >=    21
//     memory                 64       32       16                 32    >=    70
//     kept of pool a          1        1        ·                  ·    >=     1   its budget
//
// Only sums count: whether the pods of one node fit on another is for Relocation and solve() to
// say, so no removal saves more than the optimum. Nodes may be kept by the fraction. A node costs
// what its going would save, less what the evictions of its pods cost.
//
// There may be thousands of nodes but only a few rows. So a column of the master problem is a whole
// choice of nodes (Dantzig and Wolfe); at any dual prices the best choice keeps each node whose
// room is worth more than it costs. Nodes that are alike are thereby taken as one. Deterministic;
// work is counted, not timed.
#pragma once

#include "millwright/model/resources.hpp"

#include <cstddef>
#include <vector>

namespace millwright::scheduling {

struct RemovalProgram {
  struct Node {
    model::ResourceList room;   // for pods: what those on it ask for, and what is free
    double cost = 0;            // per hour, saved when it goes
    double eviction_price = 0;  // once, in the same currency; see disruption's eviction_price.hpp
    std::size_t budget = 0;     // index into `budgets`
  };
  struct Machine {
    model::ResourceList room;
    double price = 0;  // per hour
  };
  // What the pods on `nodes` ask for together, less what is free on nodes that stay anyway.
  model::ResourceList demand;
  std::vector<Node> nodes;
  std::vector<int> budgets;  // how many of the nodes that name it may go
  std::vector<Machine> machines;
};

struct RemovalAdvice {
  // By node. How much of it the optimum keeps, from 0 to 1.
  std::vector<double> kept;
  // By node: what its room is worth, by the dual prices, beyond what it costs per hour. The lower,
  // the sooner should it go; below zero it is not worth keeping.
  std::vector<double> regret;
  double saved = 0;   // per hour, less evictions: no removal saves more
  double bought = 0;  // the part of the optimum's cost that is for new machines, per hour
};

RemovalAdvice solve(const RemovalProgram& program);

}  // namespace millwright::scheduling
