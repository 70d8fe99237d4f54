// A catalog of the size and shape of EC2's in one region: about 700 types, with list prices in the
// ratios that EC2 has and spot prices that differ by type and zone.
#pragma once

#include "millwright/scheduling/solve.hpp"

namespace millwright::scheduling::bench {

// Zones test-zone-a, -b and -c; not every type is sold in every zone. The same on every machine.
InstanceTypes aws_like_types();

}  // namespace millwright::scheduling::bench
