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

base::Result<Scenario> read_scenario(std::string_view yaml);

// What the plan lacks of the expectations, one sentence each.
std::vector<std::string> unmet(const Scenario& scenario, const scheduling::Plan& plan);

}  // namespace millwright::checker
