// ECSNodeClasses of both groups, read as one kind: the parts of this folder work on classes of the
// group that Millwright has served first (karpenter.k8s.alibabacloud), and a class of Alibaba's own
// provider (karpenter.alibabacloud.com) is put into its terms here, and what was found out about it
// back into the terms of its own group. Pure.
#pragma once

#include "cloud/alibaba/node_class/node_class_spec.hpp"
#include "millwright/cloud/provider.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace millwright::cloud::alibaba {

struct ServedClass {
  // Spec and status in the first group's terms. Its reference is still the object's own.
  NodeClassPtr node_class;
  // What cannot be put so: nodes would be other than the object asks for. No node may be made.
  std::vector<std::string> problems;

  std::string problems_text() const;
  // With any problem the class is not ready, whatever was found out about it.
  void judge(NodeClassState& state) const;
};
// `cluster_id` is that of the cluster that is served: a class that names another makes no nodes.
ServedClass as_served(const NodeClassPtr& node_class, std::string_view cluster_id);

// What was found out about a class, as its own group tells it.
NodeClassState in_own_terms(const model::NodeClass& node_class, NodeClassState state);

}  // namespace millwright::cloud::alibaba
