// The manifests that `millwright install` prints for `kubectl apply -f -`, for each way of working
// with kube-scheduler. Pure: options in, text out. The files in manifests/install and
// manifests/scheduler are its output; the Helm chart renders the same objects.
#pragma once

#include "millwright/base/result.hpp"
#include "millwright/cloud/simulated.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace millwright::app {

enum class InstallMode {
  Extender,         // an existing kube-scheduler calls us; its stanza is a part of its own
  SecondScheduler,  // a stock kube-scheduler of our own, for control planes that are closed
  Alone,            // nobody calls the extender: plans are kept by taints only, as Karpenter does
};

enum class InstallPart {
  Everything,
  SchedulerStanza,  // `extenders:` for the KubeSchedulerConfiguration of an existing scheduler
  SecondScheduler,  // only the stock kube-scheduler of InstallMode::SecondScheduler
  OptInPolicy,      // MutatingAdmissionPolicy (Kubernetes 1.36): labelled namespaces use that one
  Reader,           // the role of `millwright record` and `millwright controller --shadow`
};

struct InstallOptions {
  InstallMode mode = InstallMode::Extender;
  InstallPart part = InstallPart::Everything;
  std::string namespace_ = "millwright-system";
  std::string image;  // empty: millwright:<version>
  std::string scheduler_image = "registry.k8s.io/kube-scheduler:v1.36.3";
  int replicas = 2;
  int asking_port = 0;   // of the controller's --asking-port, with the roles that it needs; 0: none
  bool console = false;  // of the controller's --console; needs asking_port
  // Where the Lease lives; empty: namespace_. Karpenter's own namespace makes the two take turns.
  std::string lease_namespace;
  std::vector<cloud::Profile> clouds;  // of the controller's --clouds; any but kwok
  std::string cluster_name;            // needed by aws
  std::string cluster_id;              // needed by alibaba
  std::vector<cloud::Profile> simulated_clouds{cloud::Profile::Kwok};
  bool crds = true;
  // Of the stanza; kube-scheduler on the host network cannot resolve the names of Services.
  std::string cluster_ip = "CLUSTER_IP";
  std::string ca_data = "CA_DATA";  // base64 of the CA's PEM
  std::string client_cert_data = "CLIENT_CERT_DATA";
  std::string client_key_data = "CLIENT_KEY_DATA";
  // Where kube-scheduler finds ca.crt, client.crt and client.key; empty: the stanza holds them
  // itself. It reads a changed client.crt again, data only when it starts.
  std::string tls_directory;
};

// Case-sensitive names as on the command line: extender, second-scheduler, alone.
base::Result<InstallMode> parse_install_mode(std::string_view text);
// all, stanza, second-scheduler, opt-in-policy, reader.
base::Result<InstallPart> parse_install_part(std::string_view text);

// YAML documents, each with comments that say why it is there. Invalid names the option.
base::Result<std::string> install_text(const InstallOptions& options);

}  // namespace millwright::app
