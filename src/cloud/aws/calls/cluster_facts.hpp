// What nodes need to know of their EKS cluster.
#pragma once

#include <string>

namespace millwright::cloud::aws {

struct ClusterFacts {
  std::string name;
  std::string arn;
  std::string endpoint;
  std::string ca_bundle;     // base64 of the PEM, as kubelets take it
  std::string version;       // "1.31"
  std::string service_cidr;  // IPv4 or IPv6
  bool ipv6 = false;
  std::string dns_address;  // of the kube-dns Service; empty: the image finds it itself
};

}  // namespace millwright::cloud::aws
