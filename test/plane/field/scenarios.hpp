// The work that both sides are given: objects applied at given seconds, in phases. A phase begins
// when the one before has come to rest; each measured phase gives a row of figures.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace millwright::field {

// Objects (YAML, several documents) that are applied at this second of the phase.
struct Step {
  double at = 0;
  std::string objects;
};

struct Phase {
  std::string name;  // of the row
  std::vector<Step> steps;
  bool measured = true;  // false: what has to be there first
  // Its first pods find no node: the target for the first NodeClaim holds.
  bool begins_without_room = true;
};

struct Scenario {
  std::string name;
  std::string about;
  int manager_qps = 2'000;  // of kube-controller-manager
  std::string pools;        // NodeClass and NodePool, there before the first phase
  std::vector<Phase> phases;
};

// `minutes`: how long those last that go on for a while (jobs: 5, random-walk: 10), for a trial.
std::vector<Scenario> scenarios(std::optional<double> minutes = std::nullopt);

}  // namespace millwright::field
