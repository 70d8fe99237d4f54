// The kubelet block of the NodeClasses: described field by field where the CRD does so, or kept
// open and checked by name at run time (EC2NodeClass).
#pragma once

#include "millwright/schema/schema.hpp"
#include "schema/engine/field.hpp"

#include <string>
#include <vector>

namespace millwright::schema {

enum class KubeletOf : std::uint8_t { NodeClass, Provisioner };
Field kubelet_configuration(KubeletOf owner);

// "100m" per cpu, memory, ephemeral-storage or pid.
Field reserved_resources(std::string description);

// Karpenter's controller-side validation of EC2NodeClass.spec.kubelet: any field of
// KubeletConfiguration (kubelet.config.k8s.io/v1beta1) but registerWithTaints.
void check_open_kubelet(const json::value& kubelet, const std::string& path,
                        std::vector<Problem>& problems);

}  // namespace millwright::schema
