// What a workload costs when its pods arrive one after another, beside one plan for all of them at
// once. The whole program buys, in the sandbox and in virtual time: planned claims, drafts, room
// that is reserved, launches that take their time. The same options give the same figures on every
// machine.
#pragma once

#include "millwright/base/result.hpp"

#include <boost/json/value.hpp>

#include <string>
#include <vector>

namespace millwright::scheduling::bench {

struct ArrivalOptions {
  std::string only;               // a workload's name, or a part of that; empty: all
  std::vector<int> pods = {500};  // how many of them
};

// Prints a table as it grows. The value is a list with one object for each row. An error when no
// workload has such a name, or when pods were left without a node.
base::Result<boost::json::value> arrival(const ArrivalOptions& options);

}  // namespace millwright::scheduling::bench
