// The labels of ECS instance types and their nodes that CloudPilot's provider knows: well known to
// the planner with the real cloud and with the simulated one.
#pragma once

#include <array>
#include <string_view>

namespace millwright::cloud {

inline constexpr std::array<std::string_view, 13> kAlibabaLabels{
    "topology.k8s.alibabacloud/zone-id",
    "karpenter.k8s.alibabacloud/instance-category",
    "karpenter.k8s.alibabacloud/instance-family",
    "karpenter.k8s.alibabacloud/instance-generation",
    "karpenter.k8s.alibabacloud/instance-size",
    "karpenter.k8s.alibabacloud/instance-cpu",
    "karpenter.k8s.alibabacloud/instance-cpu-model",
    "karpenter.k8s.alibabacloud/instance-memory",
    "karpenter.k8s.alibabacloud/instance-gpu-name",
    "karpenter.k8s.alibabacloud/instance-gpu-manufacturer",
    "karpenter.k8s.alibabacloud/instance-gpu-count",
    "karpenter.k8s.alibabacloud/instance-gpu-memory",
    "karpenter.k8s.alibabacloud/ecsnodeclass"};

// Likewise those of Alibaba Cloud's own provider: nodes of its ECSNodeClasses have them in place of
// the others.
inline constexpr std::array<std::string_view, 11> kOfficialAlibabaLabels{
    "node.kubernetes.io/instance-family",
    "node.kubernetes.io/instance-size",
    "karpenter.alibabacloud.com/instance-category",
    "karpenter.alibabacloud.com/instance-generation",
    "karpenter.alibabacloud.com/instance-cpu",
    "karpenter.alibabacloud.com/instance-memory",
    "karpenter.alibabacloud.com/instance-gpu-name",
    "karpenter.alibabacloud.com/instance-gpu-manufacturer",
    "karpenter.alibabacloud.com/instance-gpu-count",
    "karpenter.alibabacloud.com/instance-gpu-memory",
    "karpenter.alibabacloud.com/ecsnodeclass"};

}  // namespace millwright::cloud
