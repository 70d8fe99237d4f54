// The bodies of CreateLaunchTemplate and CreateFleet, and what CreateFleet answers. Pure.
#pragma once

#include "cloud/aws/errors.hpp"
#include "cloud/aws/form.hpp"
#include "cloud/aws/launch_plan.hpp"
#include "cloud/aws/user_data.hpp"
#include "cloud/aws/xml.hpp"

#include <string>
#include <vector>

namespace millwright::cloud::aws {

inline constexpr std::string_view kClusterTag = "eks:eks-cluster-name";
inline constexpr std::string_view kClaimTag = "karpenter.sh/nodeclaim";
// Ours: a claim's instance is found by it when the launch's answer was lost.
inline constexpr std::string_view kClaimUidTag = "millwright.io/nodeclaim-uid";
// Ours, on what was launched for many claims at once: what they have in common.
inline constexpr std::string_view kBootShapeTag = "millwright.io/boot-shape";

// Tags of everything made for nodes of the class: the class's own and those that mark it as ours.
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
