// Which capacity reservations a class selects (Karpenter's capacity reservation provider).
#pragma once

#include "cloud/aws/ec2.hpp"
#include "cloud/aws/node_class_spec.hpp"

#include <vector>

namespace millwright::cloud::aws {

// The reservations that the terms select, by id. What is not there (any more) is left out.
base::Task<ApiResult<std::vector<Reservation>>> find_reservations(Api& api,
                                                                  std::vector<SelectorTerm> terms);

}  // namespace millwright::cloud::aws
