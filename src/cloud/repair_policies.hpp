// The repair policies of Karpenter's providers: for the real clouds and the simulated ones alike.
#pragma once

#include "millwright/model/karpenter.hpp"
#include "millwright/model/repair_policy.hpp"

#include <array>
#include <chrono>

namespace millwright::cloud {

// Karpenter's kwok provider.
inline constexpr std::array<model::RepairPolicy, 2> kKwokRepairPolicies{{
    {model::kReady, model::ConditionStatus::False, std::chrono::minutes(10)},
    {model::kReady, model::ConditionStatus::Unknown, std::chrono::minutes(10)},
}};

// Karpenter's AWS provider. All but the first two are conditions of EKS's node monitoring agent.
inline constexpr std::array<model::RepairPolicy, 7> kAwsRepairPolicies{{
    {model::kReady, model::ConditionStatus::False, std::chrono::minutes(30)},
    {model::kReady, model::ConditionStatus::Unknown, std::chrono::minutes(30)},
    {"AcceleratedHardwareReady", model::ConditionStatus::False, std::chrono::minutes(10)},
    {"StorageReady", model::ConditionStatus::False, std::chrono::minutes(30)},
    {"NetworkingReady", model::ConditionStatus::False, std::chrono::minutes(30)},
    {"KernelReady", model::ConditionStatus::False, std::chrono::minutes(30)},
    {"ContainerRuntimeReady", model::ConditionStatus::False, std::chrono::minutes(30)},
}};

// Karpenter's provider for Huawei Cloud. The simulated Alibaba Cloud has the same.
inline constexpr std::array<model::RepairPolicy, 2> kReadinessRepairPolicies{{
    {model::kReady, model::ConditionStatus::False, std::chrono::minutes(30)},
    {model::kReady, model::ConditionStatus::Unknown, std::chrono::minutes(30)},
}};

}  // namespace millwright::cloud
