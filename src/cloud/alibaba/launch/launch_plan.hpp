// What a launch may buy for a NodeClaim: the cheapest offerings that fit, with a vSwitch for each.
// Pure.
#pragma once

#include "cloud/alibaba/node_class/node_class_spec.hpp"
#include "millwright/base/result.hpp"
#include "millwright/scheduling/instance_type.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::cloud::alibaba {

// An auto provisioning group takes so many.
inline constexpr std::size_t kMostCandidates = 20;

struct Candidate {
  std::string type;
  std::string zone;
  std::string vswitch;
  double price = 0;
};

// Everything in a plan runs one image and is of one capacity type.
struct LaunchPlan {
  std::string capacity_type;
  std::string image_id;
  std::string arch;
  std::vector<Candidate> candidates;  // by price; never empty
};

struct LaunchContext {
  const std::vector<scheduling::InstanceType>& types;
  const NodeClassSpec& spec;
  const NodeClassFindings& findings;
  std::function<std::int64_t(std::string_view vswitch)> free_addresses;
};

// Spot where the claim allows it and there is any. NoCapacity when no available offering meets the
// claim.
base::Result<LaunchPlan> plan_launch(const model::NodeClaim& claim, const LaunchContext& context);

}  // namespace millwright::cloud::alibaba
