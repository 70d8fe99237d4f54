// How the planner's time and memory grow, without a peer: no other planner gets this far.
#pragma once

#include <boost/json/value.hpp>

#include <string>

namespace millwright::scheduling::bench {

// Prints as it goes. The value is {"growth": [{"axis", "value", "seconds"}], "full": {...},
// "arriving": {...}, "arriving_full": {...}, "arriving_recipe": {...}}: pods, types and nodes one
// at a time; 100,000 mixed pods on 800 types and 5,000 nodes (seconds, resident MiB); one pod that
// arrives while 10,000 others are planned for on a cluster of 5,000 nodes (milliseconds). With
// `part` "arriving" that alone.
boost::json::value growth(const std::string& part);

}  // namespace millwright::scheduling::bench
