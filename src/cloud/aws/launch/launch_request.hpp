// The bodies of CreateLaunchTemplate and CreateFleet, and what CreateFleet answers. Pure.
#pragma once

#include "cloud/aws/calls/wire/errors.hpp"
#include "cloud/aws/calls/wire/form.hpp"
#include "cloud/aws/calls/wire/xml.hpp"
#include "cloud/aws/launch/launch_plan.hpp"
#include "cloud/aws/launch/user_data.hpp"

#include <string>
#include <vector>

namespace millwright::cloud::aws {

inline constexpr std::string_view kClusterTag = "eks:eks-cluster-name";
inline constexpr std::string_view kClaimTag = "karpenter.sh/nodeclaim";
// Not Karpenter's: finds a claim's instance when the answer to its launch was lost.
inline constexpr std::string_view kClaimUidTag = "millwright.io/nodeclaim-uid";
// Not Karpenter's: on instances launched for many claims at once, the hash that the claims share.
inline constexpr std::string_view kBootShapeTag = "millwright.io/boot-shape";
// Not Karpenter's: on the same instances, list_of_claims() of these claims.
inline constexpr std::string_view kLaunchedForTag = "millwright.io/launched-for";

// Tags of everything made for nodes of the class: its own tags, and those that name the owner.
model::StringMap owned_tags(const NodeClassSpec& spec, const std::string& cluster,
                            const std::string& node_pool);

struct TemplateRequest {
  std::string name;  // "karpenter.k8s.aws/<hash of the content>"
  Form form{"CreateLaunchTemplate", "2016-11-15"};
};
// One template per group: equal content has an equal name.
base::Result<TemplateRequest> launch_template_for(const NodeClassSpec& spec,
                                                  const NodeClassFindings& findings,
                                                  const LaunchPlan& plan, const LaunchGroup& group,
                                                  const Boot& boot, const model::StringMap& tags);

struct FleetRequest {
  const LaunchPlan& plan;
  std::vector<std::string> templates;  // of plan.groups, in their order
  model::StringMap tags;
  std::string context;
  std::string client_token;
  int capacity = 1;  // instances
};
Form fleet_form(const FleetRequest& request);

struct FleetError {
  std::string code;
  std::string message;
  std::string type;
  std::string zone;
};
struct FleetInstance {
  std::string id;
  std::string type;
  std::string zone;
  std::string subnet;
};
struct FleetAnswer {
  std::vector<FleetInstance> instances;  // by id; fewer than asked for when there was no more
  std::vector<FleetError> errors;
};
FleetAnswer read_fleet(const XmlNode& root);

}  // namespace millwright::cloud::aws
