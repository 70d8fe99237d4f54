// Random problems that mix every feature of the planner: small, so that a wrong plan can be read.
#pragma once

#include "millwright/scheduling/solve.hpp"

#include <cstdint>

namespace millwright::checker {

// The same seed gives the same problem on every machine.
scheduling::Problem random_world(std::uint32_t seed);
// The same with attach limits of instance types, and more pods with volumes.
scheduling::Problem random_world_with_volume_limits(std::uint32_t seed);
// The same with devices of nodes and types, and claims to them.
scheduling::Problem random_world_with_devices(std::uint32_t seed);

}  // namespace millwright::checker
