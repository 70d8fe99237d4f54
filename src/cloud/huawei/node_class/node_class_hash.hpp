// The drift hash of a CCENodeClass. It is not the hash of Karpenter's provider for Huawei Cloud,
// and its version says so: nodes that come from there are compared from their next stamp on. Pure.
#pragma once

#include "cloud/common/node_class/static_drift.hpp"
#include "millwright/model/karpenter.hpp"

#include <string>
#include <string_view>

namespace millwright::cloud::huawei {

inline constexpr std::string_view kHashAnnotation = "karpenter.k8s.huawei/ccenodeclass-hash";
inline constexpr std::string_view kHashVersionAnnotation =
    "karpenter.k8s.huawei/ccenodeclass-hash-version";

// Of the spec with its defaults filled in. What selects subnets does not count: their drift is
// found on the node. Secrets go into it, and cannot be got out.
model::HashStamp hash_stamp(const model::NodeClass& node_class);

}  // namespace millwright::cloud::huawei
