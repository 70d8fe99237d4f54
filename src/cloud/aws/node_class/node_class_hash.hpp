// The drift hash of an EC2NodeClass, bit for bit as Karpenter's AWS provider computes it, so that
// nodes pass from one to the other without a replacement. Pure.
#pragma once

#include "cloud/common/node_class/static_drift.hpp"
#include "millwright/model/karpenter.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace millwright::cloud::aws {

// Which fields count, and how. V5 came with the provider's release 1.12; 1.15 has V6. They differ
// in how they see the kubelet's settings.
enum class HashVersion : std::uint8_t { V5, V6 };

inline constexpr std::string_view kHashAnnotation = "karpenter.k8s.aws/ec2nodeclass-hash";
inline constexpr std::string_view kHashVersionAnnotation =
    "karpenter.k8s.aws/ec2nodeclass-hash-version";

// Decimal text. `ca_bundle` counts too: base64 of the PEM of the API server's CA, which nodes are
// started with. What selects subnets, security groups, images and capacity reservations does not
// count: their drift is found on the instance.
std::string node_class_hash(const model::NodeClass& node_class, std::string_view ca_bundle,
                            HashVersion version);

// What we write on classes and claims: version v6. Without the hashes of earlier versions.
model::HashStamp hash_stamp(const model::NodeClass& node_class, std::string_view ca_bundle);

}  // namespace millwright::cloud::aws
