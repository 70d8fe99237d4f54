// `millwright controller` against a plane: its own process on free ports, wired into the scheduler
// and the API server as docs/install describes. Blocks the calling thread.
#pragma once

#include "plane/runner/plane.hpp"

namespace millwright::plane {

inline constexpr std::string_view kNamespace = "millwright-system";  // of the installation

struct ControllerOptions {
  std::string name = "millwright";  // of the log file; one per replica
  std::string clouds = "kwok";
  std::vector<std::string> flags;  // added to our own
  // Empty: with a token of the ServiceAccount that `millwright install` makes, and its roles.
  std::string kubeconfig;
  std::string cloud_url;  // of a CloudProcess; empty: the cloud lives in the controller
  // Of the installation, when this is the plane's first controller.
  std::string mode = "extender";
  std::map<std::string, std::string> environment;  // added to ours
};

// `millwright cloud` against a plane: instances that outlive every controller.
class CloudProcess {
 public:
  // `flags` are added to our own, such as "--boot=5s".
  static base::Result<std::unique_ptr<CloudProcess>> start(Plane& plane,
                                                           std::vector<std::string> flags = {});
  const std::string& url() const { return url_; }
  // Every instance there is, those terminating included.
  std::vector<json::value> instances();

 private:
  CloudProcess() = default;
  base::Result<std::string> call(const std::string& verb);

  std::unique_ptr<base::RealLoop> loop_;
  std::unique_ptr<net::Client> client_;
  std::unique_ptr<Process> process_;
  std::string url_;
};

class Controller {
 public:
  // Starts it and waits until /readyz says yes. The CRDs must be there.
  static base::Result<std::unique_ptr<Controller>> start(Plane& plane, ControllerOptions options);

  Process& process() { return *process_; }
  int serving_port() const { return serving_port_; }    // of the webhooks
  int extender_port() const { return extender_port_; }  // asks for a client certificate
  int metrics_port() const { return metrics_port_; }
  int health_port() const { return health_port_; }
  bool ready();
  // It answers the extender from then on.
  bool leads() { return metric("leader_election_master_status") == 1; }
  // The text of /metrics.
  std::string metrics();
  // Sum of a metric's samples whose labels contain `labels`; 0 when there is none.
  double metric(const std::string& name, const std::string& labels = {});

  // A key of the Secret of certificates, base64 as it stands there.
  std::string certificate(const std::string& key);
  // What kube-scheduler shows and trusts.
  net::ClientTls scheduler_tls();
  // Asks as kube-scheduler does; the answer's body. `verb` such as "filter".
  base::Result<std::string> ask_extender(const std::string& verb, const json::value& arguments);
  // An item of KubeSchedulerConfiguration's extenders, as JSON. `port` 0: our own.
  std::string extender(int port = 0);
  // Applies both webhook configurations that `millwright install` prints, with our own address in
  // place of the Service's.
  base::Result<> register_webhooks(const std::string& failure_policy = "Ignore");

 private:
  explicit Controller(Plane& plane) : plane_(plane) {}
  base::Result<std::string> get(int port, const std::string& path);

  Plane& plane_;
  std::unique_ptr<base::RealLoop> loop_;
  std::unique_ptr<net::Client> client_;
  std::unique_ptr<net::Client> extender_client_;  // with kube-scheduler's certificate
  std::unique_ptr<Process> process_;
  int serving_port_ = 0;
  int extender_port_ = 0;
  int metrics_port_ = 0;
  int health_port_ = 0;
};

// `millwright ARGUMENTS`, running; what it prints is in the plane's directory.
base::Result<std::unique_ptr<Process>> start_millwright(Plane& plane,
                                                        const std::vector<std::string>& arguments);
// The same until it ends; exit code -1: it did not within half a minute. Calling thread only.
Output run_millwright(Plane& plane, const std::vector<std::string>& arguments);
// What `millwright install ARGUMENTS` prints.
base::Result<std::vector<json::value>> install_objects(Plane& plane,
                                                       const std::vector<std::string>& arguments);
base::Result<std::string> install_text(Plane& plane, const std::vector<std::string>& arguments);
// The namespace, the ServiceAccount, the roles and the extender's Service of an installation;
// nothing when they are there.
base::Result<> install_account(Plane& plane, const std::string& mode);

// manifests/crds, applied and established.
base::Result<> apply_crds(Plane& plane);

}  // namespace millwright::plane
