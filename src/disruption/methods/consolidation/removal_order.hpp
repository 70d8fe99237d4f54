// Which of the nodes that may go should go first: what the linear program over the whole cluster
// says (scheduling::RemovalProgram).
#pragma once

#include "disruption/survey.hpp"

#include <cstddef>
#include <vector>

namespace millwright::disruption {

struct RemovalOrder {
  std::vector<const Candidate*> nodes;  // the most superfluous first
  std::size_t gone = 0;                 // so many of the first does the optimum do without
  double saved = 0;                     // per hour; no removal saves more
  double bought = 0;                    // per hour, of new nodes, in the optimum
};

RemovalOrder removal_order(const Survey& survey, const std::vector<const Candidate*>& eligible);

}  // namespace millwright::disruption
