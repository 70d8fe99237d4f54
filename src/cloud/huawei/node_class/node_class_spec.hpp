// A CCENodeClass's spec as the adapter reads it. What the CRD refuses is not checked again; a field
// of a wrong type reads as absent. Pure.
#pragma once

#include "millwright/model/karpenter.hpp"
#include "millwright/model/resources.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace millwright::cloud::huawei {

// A subnet meets a term when it has both of what the term names.
struct SubnetTerm {
  std::string id;
  std::string name;
  friend auto operator<=>(const SubnetTerm&, const SubnetTerm&) = default;
};

struct Disk {
  std::int64_t gib = 0;
  std::string type;                        // "SSD"
  std::optional<std::int64_t> iops;        // of GPSSD2 and ESSD2
  std::optional<std::int64_t> throughput;  // MiB/s, of GPSSD2
  friend bool operator==(const Disk&, const Disk&) = default;
};

struct NodeClassSpec {
  std::string name;
  std::vector<SubnetTerm> subnet_terms;
  std::string ims_family;  // the operating system as CCE names it
  Disk root;
  Disk k8s;  // of the runtime and the kubelet; filled in where the class has none
  std::vector<Disk> users;
  std::string runtime = "containerd";
  // How to log in: a key pair, or a user with a password as CCE wants it.
  std::string ssh_key;
  std::string user = "root";
  std::string password;  // secret: never logged
  std::string server_group;
  std::optional<std::int64_t> max_pods;
  model::ResourceList kube_reserved;
  model::ResourceList system_reserved;
};

NodeClassSpec read_spec(const model::NodeClass& node_class);

// The ids of status.subnets.
std::vector<std::string> read_subnets(const model::NodeClass& node_class);

}  // namespace millwright::cloud::huawei
