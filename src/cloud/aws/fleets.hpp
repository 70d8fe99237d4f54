// CreateFleet for many claims at once: requests that are equal but for the claim become one call
// for as many instances, dealt out one to a claim (Karpenter's CreateFleet batcher). A call for one
// claim carries its UID as client token and in its tags, so that a repeated call gives the same
// instance; a call for many carries a token of them all and what they boot like. Loop thread only.
#pragma once

#include "cloud/aws/batcher.hpp"
#include "cloud/aws/ec2.hpp"
#include "cloud/aws/launch_request.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace millwright::cloud::aws {

// What one claim asks for.
struct FleetOrder {
  std::shared_ptr<const model::NodeClaim> claim;
  std::shared_ptr<const LaunchPlan> plan;
  std::vector<std::string> templates;  // of the plan's groups
  model::StringMap tags;               // of everything made for the class
  std::string context;
  bool alone = false;  // an earlier call may have used the claim's token: never merge it
};

struct FleetShare {
  std::shared_ptr<const ApiResult<FleetAnswer>> answer;  // of the whole call
  std::optional<FleetInstance> instance;                 // this claim's
  bool merged = false;                                   // the call was for others too
};

class Fleets {
 public:
  // Called once for each call that was answered, whatever its number of claims.
  using OnAnswer = std::function<void(const LaunchPlan& plan, const FleetAnswer& answer)>;
  Fleets(Api& api, base::Metrics& metrics, OnAnswer on_answer);

  base::Task<base::Result<FleetShare>> create(FleetOrder order);

 private:
  base::Task<Batcher<FleetOrder, FleetShare>::Replies> call(std::vector<FleetOrder> orders);

  Ec2 ec2_;
  OnAnswer on_answer_;
  Batcher<FleetOrder, FleetShare> batches_;
};

// Karpenter's limits but for the longest wait (a second there): ten calls a second for one kind of
// claim are as many as EC2 refills, and no claim waits longer for company.
inline constexpr BatchLimits kFleetLimits{.idle = std::chrono::milliseconds(35),
                                          .longest = std::chrono::milliseconds(100),
                                          .items = 1000};

}  // namespace millwright::cloud::aws
