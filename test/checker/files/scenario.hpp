// Scenarios as data: a Scenario document (instance types, options, expectations), then Kubernetes
// manifests. test/scenarios/README.md describes the format.
#pragma once

#include "millwright/base/result.hpp"
#include "millwright/scheduling/solve.hpp"

#include <boost/json/value.hpp>

#include <string>
#include <string_view>

namespace millwright::checker {

struct Scenario {
  std::string title;
  scheduling::Problem problem;
  boost::json::value expect;
};

// YAML, or one JSON document a line (when the text begins with a brace).
base::Result<Scenario> read_scenario(std::string_view text);
base::Result<Scenario> read_scenario_file(const std::string& path);

// The problem as one JSON document a line; read_scenario makes the same problem of it, but for pod
// uids (a pod's uid is its name) and names of claims that have a node (they get the node's).
// Reservations and fences are Millwright's own and are left out. Every pool must sell the same
// types.
std::string write_scenario(const scheduling::Problem& problem, std::string_view title);

}  // namespace millwright::checker
