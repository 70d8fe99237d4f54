// A problem as the bounds on its price see it: pods that are alike, machines on sale, nodes that
// are there. Made from the Kubernetes objects alone; it shares nothing with the planner but the
// algebra of requirements. Topology is left out.
#pragma once

#include "millwright/scheduling/solve.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace millwright::scheduling::bench {

// Thousandths, by BoundedProblem::resources.
using Sizes = std::vector<std::int64_t>;
// Classes of pods, ascending.
using Users = std::vector<std::size_t>;

// Pods that ask for the same and may go to the same places.
struct BoundedClass {
  Requirements requirements;
  Sizes requests;
  std::int64_t pods = 0;
};

struct BoundedMachine {
  Sizes room;   // DaemonSets have taken their part; on existing nodes, pods too
  Users users;  // classes that it admits, and that fit on it
  double price = 0;
  std::string node;  // its name; of a machine on sale none
};

struct BoundedProblem {
  explicit BoundedProblem(const Problem& problem);

  std::vector<std::string> resources;  // that some pod asks for
  std::vector<BoundedClass> classes;
  std::map<std::string, std::size_t> class_of;  // by the pod's uid
  std::map<std::string, double> node_overhead;  // by NodePool
  // None that is dearer than another with as much room for the same users, or more.
  std::vector<BoundedMachine> offers;
  std::vector<BoundedMachine> nodes;  // those of use to somebody; they cost nothing

 private:
  void find_classes(const Problem& problem);
  void add_offers(const Problem& problem);
  void drop_outdone();
  void add_nodes(const Problem& problem);
  Sizes sizes_of(const model::ResourceList& list) const;
  Users users_of(const Requirements& machine, const Sizes& room) const;
};

}  // namespace millwright::scheduling::bench
