// Which NodeClaim an instance belongs to. A fleet launched for one claim names it in its tags. A
// fleet launched for many equal claims cannot: its instances are dealt out here, and are recorded
// later, in the NodeClaims' status. When the process ends between the two, the next one deals the
// instances that no status names to the claims that they fit. Loop thread only.
#pragma once

#include "cloud/aws/calls/ec2.hpp"
#include "millwright/model/karpenter.hpp"
#include "millwright/scheduling/instance_type.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::cloud::aws {

// "aws:///us-west-2a/i-0123" and its parts. The id is empty for a provider id of another form:
// "i-" and hexadecimal digits are an id.
std::string provider_id_of(std::string_view zone, std::string_view id);
std::string instance_id_of(std::string_view provider_id);

// What is known of an instance right after its launch.
struct Launched {
  std::string instance_id;
  std::string type;
  std::string zone;
  std::string capacity_type;
  std::string image_id;
  std::string reservation_id = {};   // when it was launched into a capacity reservation
  std::string placement_group = {};  // id, when it was launched into one
  int partition = 0;                 // of the placement group
  bool awaits_partition = false;     // EC2 chose one and does not show it yet
};

// A hash of what decides how a claim's machine boots: pool, class, labels and taints. Hexadecimal.
std::string boot_shape(const model::NodeClaim& claim);

// The claims that a fleet is launched for, short enough for a tag: four hexadecimal digits of a
// hash of each UID. Empty when they are too many.
std::string list_of_claims(const std::vector<std::string>& uids);
// May be true by chance for a claim that is not in the list. An empty list may have any claim.
bool may_list(std::string_view list, std::string_view uid);

class Ownership {
 public:
  // As Provider::set_recorded().
  using IsRecorded = std::function<bool(std::string_view id)>;
  void set_recorded(IsRecorded recorded) { recorded_ = std::move(recorded); }
  bool is_recorded(std::string_view id) const { return recorded_ && recorded_(id); }

  void deal(const Launched& launched, const model::NodeClaim& claim, base::TimePoint now);
  void forget(std::string_view instance);
  // Another process may have led since this one dealt, and may have dealt anew: which of two claims
  // got which instance is chance. What the statuses say of a claim or of an instance counts, and
  // what was dealt of either is forgotten. The rest still holds: nobody has recorded otherwise.
  void begin_term();
  // Forgets instances dealt so long ago that a status must name them by now.
  void sweep(base::TimePoint now);

  // Name of the claim that this process dealt the instance to; empty when none.
  std::string claim_of(std::string_view instance) const;
  // This process dealt the instance to another claim than that of the UID.
  bool is_anothers(std::string_view instance, std::string_view claim_uid) const;
  // What this process dealt to the claim; nullptr when nothing.
  const Launched* dealt_to(std::string_view claim_uid) const;
  // Belongs to no claim: neither dealt nor recorded.
  bool is_free(const Ec2Instance& instance) const;
  // The cheapest free instance that meets the claim, was not launched for others alone and is not
  // older, or only seemingly: clocks differ. Before all, one that says that it was launched for the
  // claim. nullptr when there is none.
  const Ec2Instance* choose_for(const model::NodeClaim& claim,
                                const std::vector<Ec2Instance>& instances,
                                const std::vector<scheduling::InstanceType>& types) const;

 private:
  struct Dealt {
    Launched launched;
    std::string claim;
    base::TimePoint when;
  };
  void forget_unclaimed();

  IsRecorded recorded_;
  std::map<std::string, Dealt, std::less<>> dealt_;        // by the claim's UID
  std::map<std::string, std::string, std::less<>> whose_;  // by instance, the claim's UID
};

}  // namespace millwright::cloud::aws
