// What lower_bound() works out for a problem, with what pods are worth by it.
#pragma once

#include "bounded_problem.hpp"

#include <vector>

namespace millwright::scheduling::bench {

struct FractionalBound {
  double price = 0;  // NAN when the program could not be solved
  // Of a pod, by class: what it adds to the price. No fill of a machine is worth more than the
  // machine costs.
  std::vector<double> values;
};

FractionalBound fractional_bound(const BoundedProblem& problem);

}  // namespace millwright::scheduling::bench
