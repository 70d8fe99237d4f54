// What keeps the pods of one class out of one NodePool, all of it, and for each thing the least
// change that takes it away. Obstacles are looked for in the order in which the planner would meet
// them; each is taken as removed before the next is looked for.
#pragma once

#include "scheduling/compile/pods/pod_classes.hpp"
#include "scheduling/compile/pools/pool_template.hpp"
#include "scheduling/packing/packing.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace millwright::scheduling {

// How far a pod comes before it meets the obstacle; the furthest is the most telling.
enum class Stage : std::uint8_t {
  OtherPool,  // it asks for another NodePool by name
  Pool,
  Taints,
  Requirements,
  Types,
  Offerings,
  Resources,
  Ports,
  Topology,
  MinValues,
  Limits,
};

struct Obstacle {
  Stage stage = Stage::Pool;
  std::string reason;
  std::string change;
  std::vector<Change> changes{};  // the same for a program, where it can be said
};

struct Inspected {
  const Problem& problem;
  const PodClasses& pods;
  const PodClass& pod_class;
  const PoolTemplate& pool;
  PoolId pool_id;
  Packing& packing;  // in the state that the plan ended in
};

// Never empty.
std::vector<Obstacle> obstacles(const Inspected& inspected, const Rung& rung);

}  // namespace millwright::scheduling
