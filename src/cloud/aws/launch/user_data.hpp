// The user data of an instance for each operating system family, merged with the user's own. Pure.
#pragma once

#include "cloud/aws/calls/cluster_facts.hpp"
#include "cloud/aws/node_class/node_class_spec.hpp"
#include "millwright/base/result.hpp"
#include "millwright/model/taints.hpp"

#include <string>
#include <vector>

namespace millwright::cloud::aws {

struct Boot {
  ClusterFacts cluster;
  Family family = Family::Custom;
  std::string user_data;  // the user's own
  Kubelet kubelet;
  std::int64_t max_pods = 0;
  model::StringMap labels;
  std::vector<model::Taint> taints;
  bool raid0 = false;
};

// Raw text, to be base64-encoded. Invalid, with the field's name, for text that cannot be merged or
// exceeds EC2's 16 KiB.
base::Result<std::string> make_user_data(const Boot& boot);

// The labels that a kubelet may give its own node (the NodeRestriction admission plugin).
model::StringMap kubelet_labels(const model::StringMap& labels);

// Bottlerocket's settings.kubernetes, merged into the user's TOML.
base::Result<std::string> merge_bottlerocket(const Boot& boot);

}  // namespace millwright::cloud::aws
