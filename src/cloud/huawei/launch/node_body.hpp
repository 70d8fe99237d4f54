// The request for one CCE node, as CCE's API reference ("Creating a Node") describes its body. CCE
// installs the runtime and the kubelet and joins the machine to the cluster: there is no user data.
// Pure.
#pragma once

#include "cloud/huawei/node_class/node_class_spec.hpp"
#include "millwright/model/karpenter.hpp"

#include <boost/json/value.hpp>

#include <string>

namespace millwright::cloud::huawei {

// k8sTags: the Kubernetes labels by which a node's claim is found again. The first is that of
// Karpenter's provider for Huawei Cloud.
inline constexpr std::string_view kClaimUidTag = "karpenter.k8s.huawei/nodeclaim-uid";
inline constexpr std::string_view kClaimTag = "karpenter.k8s.huawei/nodeclaim";

// What one node is made of.
struct NodeOrder {
  std::string flavor;
  std::string zone;
  std::string subnet;
  bool spot = false;
};

boost::json::value node_body(const NodeOrder& order, const model::NodeClaim& claim,
                             const NodeClassSpec& spec);

}  // namespace millwright::cloud::huawei
