// Whose an instance is. A fleet launched for one claim says it in its tags. A fleet launched for
// many equal claims cannot: its instances are dealt out here, and only the NodeClaims' status says
// later which has which. Between the two lies a crash, after which the next process deals what
// nobody has recorded to the claims that fit. Loop thread only.
#pragma once

#include "cloud/aws/ec2.hpp"
#include "millwright/model/karpenter.hpp"
#include "millwright/scheduling/instance_type.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::cloud::aws {

// "aws:///us-west-2a/i-0123" and its parts; an empty id when it is another cloud's.
std::string provider_id_of(std::string_view zone, std::string_view id);
std::string instance_id_of(std::string_view provider_id);

// Where an instance was made: what the provider needs to describe it.
struct Launched {
  std::string instance_id;
  std::string type;
  std::string zone;
  std::string capacity_type;
  std::string image_id;
  std::string reservation_id = {};   // when it was launched into a capacity reservation
  std::string placement_group = {};  // id, when it was launched into one
  int partition = 0;                 // of the placement group
  bool awaits_partition = false;     // EC2 chose one and has not told it yet
};

// Equal for claims whose machines boot alike: pool, class, labels and taints. Hexadecimal.
std::string boot_shape(const model::NodeClaim& claim);

class Ownership {
 public:
  // Whether some NodeClaim's status has the provider id.
  using IsRecorded = std::function<bool(std::string_view provider_id)>;
  void set_recorded(IsRecorded recorded) { recorded_ = std::move(recorded); }
  bool is_recorded(std::string_view provider_id) const {
    return recorded_ && recorded_(provider_id);
  }

  void deal(const Launched& launched, const model::NodeClaim& claim, base::TimePoint now);
  void forget(std::string_view instance);
  // Forgets what was dealt longer ago than a launch takes to be recorded.
  void sweep(base::TimePoint now);

  // Name of the claim that this process dealt the instance to; empty when none.
  std::string claim_of(std::string_view instance) const;
  // What this process dealt to the claim; nullptr when nothing.
  const Launched* dealt_to(std::string_view claim_uid) const;
  // Nobody's: neither dealt nor recorded.
  bool is_free(const Ec2Instance& instance) const;
  // Of the free instances that can be what the claim asks for, the cheapest; nullptr when none.
  const Ec2Instance* choose_for(const model::NodeClaim& claim,
                                const std::vector<Ec2Instance>& instances,
                                const std::vector<scheduling::InstanceType>& types) const;

 private:
  struct Dealt {
    Launched launched;
    std::string claim;
    base::TimePoint when;
  };
  IsRecorded recorded_;
  std::map<std::string, Dealt, std::less<>> dealt_;        // by the claim's UID
  std::map<std::string, std::string, std::less<>> whose_;  // by instance, the claim's UID
};

}  // namespace millwright::cloud::aws
