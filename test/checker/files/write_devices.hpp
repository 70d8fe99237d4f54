// The kinds of dynamic resource allocation as documents of a scenario.
#pragma once

#include "millwright/scheduling/solve.hpp"

#include <boost/json/value.hpp>

#include <vector>

namespace millwright::checker {

// DeviceClasses, ResourceClaims and their templates, ResourceSlices, and a DRAConfig for each of
// the options' templates.
std::vector<boost::json::value> device_documents(const scheduling::Snapshot& snapshot,
                                                 const scheduling::SolveOptions& options);

}  // namespace millwright::checker
