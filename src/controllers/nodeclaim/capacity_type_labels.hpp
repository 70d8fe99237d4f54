// Nodes outlive the capacity reservation that they were launched into: EC2 lets them run on as
// on-demand ones. Their labels follow, so that prices, drift and requirements are judged by what
// the node is now (the AWS provider's capacityreservation.capacitytype controller in Karpenter).
#pragma once

#include "millwright/controllers/services.hpp"

#include <vector>

namespace millwright::controllers {

// Relabels every claim of the provider's, and its Node, that is labelled reserved although the
// cloud says that the instance is something else. What cannot be written is left for the next call.
base::Task<void> relabel_unreserved(Services& services, cloud::Provider* provider,
                                    std::vector<cloud::Instance> instances);

}  // namespace millwright::controllers
