// The labels of flavors of Huawei Cloud and of their nodes that Karpenter's provider for Huawei
// Cloud knows, and some that it lacks: well known to the planner with the real cloud and with the
// simulated one.
#pragma once

#include <array>
#include <string_view>

namespace millwright::cloud {

inline constexpr std::array<std::string_view, 12> kHuaweiLabels{
    "karpenter.k8s.huawei/instance-category",
    "karpenter.k8s.huawei/instance-family",
    "karpenter.k8s.huawei/instance-generation",
    "karpenter.k8s.huawei/instance-size",
    "karpenter.k8s.huawei/instance-cpu",
    "karpenter.k8s.huawei/instance-memory",
    "karpenter.k8s.huawei/instance-network-bandwidth",
    "karpenter.k8s.huawei/instance-gpu-name",
    "karpenter.k8s.huawei/instance-gpu-manufacturer",
    "karpenter.k8s.huawei/instance-gpu-count",
    "karpenter.k8s.huawei/instance-gpu-memory",
    "karpenter.k8s.huawei/ccenodeclass"};
inline constexpr std::string_view kHuaweiLabelDomain = "karpenter.k8s.huawei";

}  // namespace millwright::cloud
