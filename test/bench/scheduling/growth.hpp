// How the planner's time and memory grow, without a peer: no other planner gets this far.
#pragma once

#include <boost/json/value.hpp>

#include <string>

namespace millwright::scheduling::bench {

// Prints as it goes. The value is
//   {"full": {...},             100,000 mixed pods, 800 types, 5,000 nodes: seconds, resident MiB
//    "arriving": {...},         one pod that arrives on a cluster of 5,000 nodes: milliseconds;
//    "arriving_full": {...},    the same where all nodes are full,
//    "arriving_recipe": {...},  and with the pods of Karpenter's benchmark
//    "growth": [{"axis", "value", "seconds"}]}   pods, types and nodes, one varied at a time
// `part` "arriving": only one pod that arrives.
boost::json::value growth(const std::string& part);

}  // namespace millwright::scheduling::bench
