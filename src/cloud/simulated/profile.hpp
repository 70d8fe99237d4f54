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
  model::Resource node_class;
  std::string_view region;  // empty for kwok
  std::vector<std::string_view> zones;
  std::vector<std::string_view> labels;  // keys that become well known
  std::string_view restricted_domain;    // not for users' labels otherwise
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

// NodeClass: its resolved status, the zones that status leaves (empty: all), the image for an
// architecture, and the hash that drift compares.
NodeClassState resolve_node_class(Profile profile, const model::NodeClass& node_class);
std::vector<std::string> zones_of(Profile profile, const model::NodeClass& node_class);
std::string image_for(Profile profile, const model::NodeClass& node_class, std::string_view arch);
model::HashStamp hash_stamp(Profile profile, const model::NodeClass& node_class);
// KWOKNodeClass.spec.nodeRegistrationDelay; zero elsewhere or when it cannot be read.
base::Duration registration_delay(const model::NodeClass& node_class);

}  // namespace millwright::cloud::simulated
