// Why pods have no place, and what would give them one: solved anew at the end of a forecast, and
// the remedy tried out by solving once more with it. Pure.
#pragma once

#include "millwright/scheduling/solve.hpp"

#include <optional>
#include <string>

namespace millwright::app {

struct Refused {
  std::string reason;  // empty: there is a place, it only takes time
  // The smallest change that would place the pod; empty where none was found to do it.
  std::string remedy;
  // Where it goes then: "a new c-4x-amd64-linux for $0.09/h". Empty as the remedy is.
  std::string then;
};

// `problem` has no pods; `pod` waits in its cluster.
Refused explain_waiting(scheduling::Problem problem, const scheduling::PodPtr& pod);

// The problem after the changes. nullopt when one of them names what the problem has not.
std::optional<scheduling::Problem> amended(scheduling::Problem problem,
                                           const std::vector<scheduling::Change>& changes);

}  // namespace millwright::app
