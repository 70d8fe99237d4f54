// Deletes claims whose instance is gone (Karpenter's nodeclaim.garbagecollection), and ends
// instances that no claim owns.
#pragma once

#include "millwright/controllers/services.hpp"

#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

namespace millwright::controllers {

class GarbageCollection {
 public:
  explicit GarbageCollection(Services& services);
  base::Task<void> run(std::stop_token stop);
  // One pass over every provider.
  base::Task<void> collect();

 private:
  using ProviderIds = std::set<std::string, std::less<>>;

  base::Task<void> collect_from(cloud::Provider* provider);
  // Of the claims that had registered `before` the instances were listed.
  base::Task<void> remove_lost_claims(cloud::Provider* provider, scheduling::SnapshotPtr before,
                                      std::vector<cloud::Instance> instances);
  // Those that have had no claim for a while: none that names them, and none of their own name that
  // is still without an instance.
  std::vector<cloud::Instance> overdue_orphans(const cloud::Provider& provider,
                                               const std::vector<cloud::Instance>& instances);
  // As the API server knows the claim; true when it cannot be asked.
  base::Task<bool> may_own(std::string claim_name, std::string provider_id);
  // Of all claims that the API server knows.
  base::Task<base::Result<ProviderIds>> claimed_ids();
  base::Task<void> remove_leaked(cloud::Provider* provider, std::vector<cloud::Instance> instances);

  Services services_;
  // When each instance without a claim was first seen, by provider id. They are given time: a
  // launch may still be being recorded.
  using Orphans = std::map<std::string, base::TimePoint, std::less<>>;
  std::map<const cloud::Provider*, Orphans> orphans_;
};

}  // namespace millwright::controllers
