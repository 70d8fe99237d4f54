// Deletes claims whose instance is gone (Karpenter's nodeclaim.garbagecollection), and ends
// instances that no claim owns.
#pragma once

#include "millwright/controllers/services.hpp"

#include <map>
#include <memory>
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

  using Claims = std::vector<std::shared_ptr<const model::NodeClaim>>;
  using NodePtr = std::shared_ptr<const model::Node>;
  // Since when something has been seen in every look, by the id of the object.
  using FirstSeen = std::map<std::string, base::TimePoint, std::less<>>;
  // The claims as they were `before` the cloud was `asked` for its instances.
  struct Look {
    scheduling::SnapshotPtr before;
    base::TimePoint asked;
  };

  // An instance without a claim, and its Node where node termination drains that first.
  struct Orphan {
    cloud::Instance instance;
    NodePtr node;
  };

  static base::TimePoint first_seen(const FirstSeen& known, FirstSeen& still,
                                    const std::string& what, base::TimePoint now);
  base::Task<void> collect_from(cloud::Provider* provider);
  // Whose instances are not among these, or end. One that has not registered must be old enough,
  // and an earlier look must have missed its instance, too.
  Claims missing_claims(const cloud::Provider& provider, const Look& look,
                        const std::vector<cloud::Instance>& instances);
  // The cloud, asked for this very instance, knows none or ends it.
  static base::Task<bool> has_ended(cloud::Provider* provider, std::string provider_id);
  base::Task<void> remove_lost_claims(cloud::Provider* provider, Claims missing);
  void tell_lost(const model::NodeClaim& claim);
  // Those that have had no claim for a while: none that names them, and none of their own name that
  // is still without an instance. Those whose Node is being drained are left out.
  std::vector<Orphan> overdue_orphans(const cloud::Provider& provider,
                                      const std::vector<cloud::Instance>& instances);
  // As the API server knows the claim; true when it cannot be asked.
  base::Task<bool> may_own(std::string claim_name, std::string provider_id);
  // Of all claims that the API server knows.
  base::Task<base::Result<ProviderIds>> claimed_ids();
  // Whether the cloud names a claim for an instance that was listed without one; true when it
  // cannot be asked.
  static base::Task<bool> has_name_by_now(cloud::Provider* provider, std::string provider_id);
  base::Task<void> delete_to_drain(NodePtr node);
  base::Task<void> end_leaked(cloud::Provider* provider, cloud::Instance instance);
  base::Task<void> remove_leaked(cloud::Provider* provider, std::vector<cloud::Instance> instances);

  Services services_;
  // Claims without an instance, and instances without a claim. They are given time: clouds show an
  // instance late, and a launch may still be being recorded.
  std::map<const cloud::Provider*, FirstSeen> missed_;
  std::map<const cloud::Provider*, FirstSeen> orphans_;
};

}  // namespace millwright::controllers
