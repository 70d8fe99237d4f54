// What an instance is told at its first start, by operating system family, merged with the
// person's own. Pure.
#pragma once

#include "cloud/aws/node_class_spec.hpp"
#include "cloud/aws/services.hpp"
#include "millwright/base/result.hpp"
#include "millwright/model/taints.hpp"

#include <string>
#include <vector>

namespace millwright::cloud::aws {

struct Boot {
  ClusterFacts cluster;
  Family family = Family::Custom;
  std::string user_data;  // the person's
  Kubelet kubelet;
  std::int64_t max_pods = 0;
  model::StringMap labels;
  std::vector<model::Taint> taints;
  bool raid0 = false;
};

// Raw text, to be base64-encoded. Invalid names the field: text that does not merge, or more than
// EC2's 16 KiB.
base::Result<std::string> make_user_data(const Boot& boot);

// The labels that a kubelet may give its own node (the NodeRestriction admission plugin).
model::StringMap kubelet_labels(const model::StringMap& labels);

// Bottlerocket's settings.kubernetes written over the person's TOML.
base::Result<std::string> merge_bottlerocket(const Boot& boot);

}  // namespace millwright::cloud::aws
