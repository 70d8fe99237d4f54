// Workloads that are as far from a benchmark's recipe as a cluster can be: pods that are all
// different, a selector for every application, hundreds of NodePools, nodes that are nearly full.
#pragma once

#include "millwright/base/result.hpp"

#include <boost/json/value.hpp>

#include <string>

namespace millwright::scheduling::bench {

// Prints a row for each workload, or for the one called `only`. Each is planned once, in a process
// of its own that is ended after five minutes, so that memory is that of the row. The value is
//   [{"case", "pods", "cpu_seconds", "peak_mib", "claims", "price", "refused"}]
// without the last five where the process was ended.
base::Result<boost::json::value> corners(const std::string& only);

}  // namespace millwright::scheduling::bench
