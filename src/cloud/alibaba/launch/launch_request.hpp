// The parameters of the two calls that launch instances. Pure.
#pragma once

#include "cloud/alibaba/calls/wire/parameters.hpp"
#include "cloud/alibaba/launch/launch_plan.hpp"

#include <string>
#include <string_view>

namespace millwright::cloud::alibaba {

inline constexpr std::string_view kClaimTag = "karpenter.sh/nodeclaim";
inline constexpr std::string_view kClaimUidTag = "millwright.io/nodeclaim-uid";
inline constexpr std::string_view kClusterTag = "ecs:ecs-cluster-id";
// Of instances of Alibaba's own provider.
inline constexpr std::string_view kOfficialManagerTag = "karpenter.sh/managed-by";
inline constexpr std::string_view kOfficialManager = "karpenter";
inline constexpr std::string_view kOfficialClusterTag = "karpenter.sh/cluster-id";
// "kubernetes.io/cluster/<id>", whose value is "owned".
std::string ownership_tag(std::string_view cluster_id);

// The tags of an instance: the class's own first, which cannot replace ours.
Tags instance_tags(const model::NodeClaim& claim, const NodeClassSpec& spec,
                   std::string_view cluster_id);

struct LaunchInput {
  const model::NodeClaim& claim;
  const NodeClassSpec& spec;
  const NodeClassFindings& findings;
  const LaunchPlan& plan;
  std::string cluster_id;
  std::string user_data;  // raw
};

// True for what RunInstances takes and an auto provisioning group does not: options of the metadata
// service, an encrypted system disk.
bool needs_single_launch(const NodeClassSpec& spec);

// CreateAutoProvisioningGroup of type "instant" for one instance. The same question has the same
// ClientToken, which begins with the claim's UID: Alibaba Cloud answers it with the same instance.
Parameters group_request(const LaunchInput& input);
// RunInstances for one candidate, likewise. Of a group's list of categories for the system disk it
// takes one.
Parameters run_request(const LaunchInput& input, const Candidate& candidate,
                       const std::string& disk_category);

}  // namespace millwright::cloud::alibaba
