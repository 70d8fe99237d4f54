// `millwright install`: prints the manifests that its arguments ask for.
#pragma once

#include <string>

namespace millwright::app {

struct InstallArguments {
  std::string mode = "extender";
  std::string part = "all";
  std::string namespace_ = "millwright-system";
  std::string image;
  std::string scheduler_image;
  int replicas = 2;
  int asking_port = 0;
  bool console = false;
  std::string lease_namespace;
  std::string clouds;
  std::string cluster_name;
  std::string cluster_id;
  std::string simulated_clouds = "auto";  // commas between; "none"; "auto": kwok unless clouds
  bool no_crds = false;
  std::string cluster_ip;
  std::string ca_data;
  std::string client_cert_data;
  std::string client_key_data;
  std::string tls_directory;
};

// Prints YAML to standard output; the exit status.
int run_install(const InstallArguments& arguments);

}  // namespace millwright::app
