// Zones that people, or AWS, have shifted the EKS cluster away from (Application Recovery
// Controller). Karpenter's controller arczonalshift: nothing is bought there while it lasts.
#pragma once

#include "cloud/aws/api.hpp"

#include <functional>
#include <map>
#include <string>

namespace millwright::cloud::aws {

// By zone id ("usw2-az2"): until when.
using ShiftedZones = std::map<std::string, base::TimePoint, std::less<>>;

// The shifts of the cluster that are in effect. NotFound when zonal shift is not enabled for it.
base::Task<ApiResult<ShiftedZones>> shifted_zones(Api& api, std::string cluster_arn);

}  // namespace millwright::cloud::aws
