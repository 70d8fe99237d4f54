// Workloads that are as far from a benchmark's recipe as a cluster can be: pods that are all
// different, a selector for every application, hundreds of NodePools, nodes that are nearly full.
#pragma once

#include "millwright/scheduling/solve.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace millwright::scheduling::bench {

struct Corner {
  const char* name;
  std::size_t pods;               // how many wait
  std::function<Problem()> make;  // everything in it can be written to a scenario file
};

// Several may have the same name and different sizes; small ones first.
std::vector<Corner> all_corners();

}  // namespace millwright::scheduling::bench
