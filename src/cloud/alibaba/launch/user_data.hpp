// What a machine runs at its first start: ACK's script that joins it to the cluster, with the
// NodeClaim's labels, taints and kubelet settings, and what the class adds. Pure. A secret: the
// script has a token.
#pragma once

#include "cloud/alibaba/node_class/node_class_spec.hpp"
#include "millwright/base/result.hpp"

#include <string>

namespace millwright::cloud::alibaba {

struct UserDataInput {
  const model::NodeClaim& claim;
  const NodeClassSpec& spec;
  std::string cluster_id;
  std::string attach_script;  // as ACK gave it
};

// Raw text, to be base64-encoded. Invalid for labels or taints that a shell would not take as they
// are, and for user data in MIME parts.
base::Result<std::string> make_user_data(const UserDataInput& input);

}  // namespace millwright::cloud::alibaba
