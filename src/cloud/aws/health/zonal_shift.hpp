// Zones that people, or AWS, have shifted the EKS cluster away from (Application Recovery
// Controller). Karpenter's controller arczonalshift: nothing is bought there while it lasts. Loop
// thread only.
#pragma once

#include "cloud/aws/calls/api.hpp"
#include "cloud/aws/cluster.hpp"
#include "cloud/common/catalog/restock.hpp"
#include "millwright/base/log.hpp"

#include <functional>
#include <map>
#include <stop_token>
#include <string>

namespace millwright::cloud::aws {

// By zone id ("usw2-az2"): until when.
using ShiftedZones = std::map<std::string, base::TimePoint, std::less<>>;

// The shifts of the cluster that are in effect. NotFound when zonal shift is not enabled for it.
base::Task<ApiResult<ShiftedZones>> shifted_zones(Api& api, std::string cluster_arn);

// Keeps the catalog's shifted zones.
class ZonalShifts {
 public:
  struct Parts {
    Api& api;
    Cluster& cluster;
    Catalog& catalog;
    Restock& restock;
    base::Logger log;
  };
  explicit ZonalShifts(Parts parts) : parts_(std::move(parts)) {}

  base::Task<void> run(std::stop_token stop);

 private:
  // Returns how long to wait until the next.
  base::Task<base::Duration> refresh();

  Parts parts_;
};

}  // namespace millwright::cloud::aws
