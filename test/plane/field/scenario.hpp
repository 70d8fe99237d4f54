// The work that both sides are given: objects applied at given seconds, in phases. A phase begins
// when the one before has come to rest; each measured phase gives a row of figures.
#pragma once

#include <string>
#include <vector>

namespace millwright::field {

// Objects (YAML, several documents) that are applied at this second of the phase.
struct Step {
  double at = 0;
  std::string objects;
};

struct Phase {
  std::string name;  // of the row; empty: what has to be there first, not measured
  std::vector<Step> steps;
};

struct Scenario {
  std::string name;
  std::string about;
  int manager_qps = 2'000;  // of kube-controller-manager
  std::vector<Phase> phases;
};

const std::vector<Scenario>& scenarios();

}  // namespace millwright::field
