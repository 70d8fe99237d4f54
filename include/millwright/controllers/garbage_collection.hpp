// Both directions of losing track: claims whose instance is gone are deleted (Karpenter's
// nodeclaim.garbagecollection), and instances that no claim owns are ended.
#pragma once

#include "millwright/controllers/services.hpp"

#include <map>
#include <stop_token>
#include <string>

namespace millwright::controllers {

class GarbageCollection {
 public:
  explicit GarbageCollection(Services& services) : services_(services) {}
  base::Task<void> run(std::stop_token stop);
  // One pass over every provider.
  base::Task<void> collect();

 private:
  base::Task<void> collect_from(cloud::Provider* provider);
  base::Task<void> remove_lost_claims(cloud::Provider* provider,
                                      std::vector<cloud::Instance> instances);
  // The API server, too, knows no NodeClaim of the instance.
  base::Task<bool> is_unclaimed(cloud::Instance instance);
  base::Task<void> remove_leaked(cloud::Provider* provider, std::vector<cloud::Instance> instances);

  Services& services_;
  // Instances without a claim, by provider id, and when they were first seen so: one whose launch
  // is still being recorded is not leaked.
  std::map<std::string, base::TimePoint, std::less<>> orphans_;
};

}  // namespace millwright::controllers
