// The differences between the simulated clouds, besides their catalogs.
#pragma once

#include "millwright/base/random.hpp"
#include "millwright/cloud/simulated.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::cloud::simulated {

struct Traits {
  std::string_view name;
  std::vector<model::Resource> node_classes;  // the one of its demos first
  std::string_view region;                    // empty for kwok
  std::vector<std::string_view> zones;
  std::vector<std::string_view> labels;              // keys that become well known
  std::vector<std::string_view> restricted_domains;  // not for users' labels otherwise
  // Drift: fields of the NodeClass spec that its hash leaves out.
  bool drifts = true;
  std::vector<std::string_view> unhashed_fields;
  model::RepairPolicies repair_policies;
};
const Traits& traits(Profile profile);

std::vector<scheduling::InstanceType> own_catalog(Profile profile);
void register_labels(Profile profile);

// The names that a new machine gets.
struct Identity {
  std::string provider_id;
  std::string node_name;
};
Identity new_identity(Profile profile, std::string_view claim_name, std::string_view zone,
                      std::uint64_t serial, base::Random& random);

// What of the catalog is for a NodeClass.
struct Sale {
  std::vector<std::string> zones;  // sorted; empty: all
  // Of Alibaba Cloud's own provider, whose labels are others.
  bool official = false;
  friend auto operator<=>(const Sale&, const Sale&) = default;
};

// NodeClass: its resolved status, what that leaves for it, the image for an architecture, and the
// hash that drift compares.
NodeClassState resolve_node_class(Profile profile, const model::NodeClass& node_class);
std::vector<std::string> unsupported(Profile profile, const model::NodeClass& node_class);
Sale sale_for(Profile profile, const model::NodeClass& node_class);
std::string image_for(Profile profile, const model::NodeClass& node_class, std::string_view arch);
model::HashStamp hash_stamp(Profile profile, const model::NodeClass& node_class);
// KWOKNodeClass.spec.nodeRegistrationDelay; zero elsewhere or when it cannot be read.
base::Duration registration_delay(const model::NodeClass& node_class);

}  // namespace millwright::cloud::simulated
