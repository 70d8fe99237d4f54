// What an EC2 instance type may cost while no price list is known, so that types are ordered by
// size. Pure.
#pragma once

#include "cloud/aws/calls/type_facts.hpp"

namespace millwright::cloud::aws {

// US dollars per hour for a machine of that size, near the prices of general purpose families.
double estimated_price(const TypeFacts& type);

}  // namespace millwright::cloud::aws
