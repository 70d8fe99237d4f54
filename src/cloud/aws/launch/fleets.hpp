// CreateFleet for many claims at once (Karpenter's CreateFleet batcher). Requests that differ only
// in the claim become one call for as many instances, which are dealt out one to a claim. A call
// for one claim has its UID as client token and as a tag, so that a repeated call gives the same
// instance. A call for many has a token made of all UIDs, and tags with their boot shape and with
// a list of them.
//
// EC2 repeats its answer to a token, errors too. So a call that was answered without an instance
// for the claim is over: a number makes another token of the next one. A call whose answer was lost
// keeps its token. Every process begins with the bare UID and goes on to a number only after the
// answer to the one before, which EC2 repeats to a new leader too. So all go the same way, and none
// passes a token that launched something. A new leader whose request differs from that of an answer
// without an instance hears IdempotentParameterMismatch, as after a launch, and goes no further.
// Loop thread only.
#pragma once

#include "cloud/aws/calls/ec2.hpp"
#include "cloud/aws/launch/launch_request.hpp"
#include "cloud/common/pace/batcher.hpp"

#include <functional>
#include <map>
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
  bool alone = false;  // never merge: an earlier call may have used the claim's token
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
  // Forgets claims that were not asked for in so long that they are gone.
  void sweep();

 private:
  // Calls that were answered without an instance for a claim: for it alone, and for others too.
  struct Failed {
    int alone = 0;
    int merged = 0;
    base::TimePoint last;
  };
  Form form_for_all(const std::vector<FleetOrder>& orders,
                    const std::vector<std::size_t>& sorted) const;
  Failed failed(const std::string& uid) const;
  base::Task<Batcher<FleetOrder, FleetShare>::Replies> call(std::vector<FleetOrder> orders);

  base::Loop& loop_;
  Ec2 ec2_;
  OnAnswer on_answer_;
  std::map<std::string, Failed, std::less<>> failed_;  // by the claim's UID
  Batcher<FleetOrder, FleetShare> batches_;
};

// Karpenter's limits, but with a shorter longest wait (a second there): ten calls a second for one
// kind of claim is what EC2's rate limit refills.
inline constexpr BatchLimits kFleetLimits{.idle = std::chrono::milliseconds(35),
                                          .longest = std::chrono::milliseconds(100),
                                          .items = 1000};

}  // namespace millwright::cloud::aws
