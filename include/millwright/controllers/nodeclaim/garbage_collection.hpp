// Deletes claims whose instance is gone (Karpenter's nodeclaim.garbagecollection), and ends
// instances that no claim owns.
#pragma once

#include "millwright/controllers/services.hpp"

#include <map>
#include <stop_token>
#include <string>

namespace millwright::controllers {

class GarbageCollection {
 public:
  explicit GarbageCollection(Services& services);
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

  Services services_;
  // When each instance without a claim was first seen, by provider id. They are given time: a
  // launch may still be being recorded.
  std::map<std::string, base::TimePoint, std::less<>> orphans_;
};

}  // namespace millwright::controllers
