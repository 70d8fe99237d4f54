// How to reach the API server and with which credentials: from kubeconfig files (certificates,
// tokens, token files, exec plugins) or from the service account of a pod.
#pragma once

#include "millwright/base/log.hpp"
#include "millwright/kube/transport.hpp"
#include "millwright/net/client.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace millwright::kube {

// client.authentication.k8s.io/v1 (and v1beta1) exec plugin.
struct ExecPlugin {
  std::string api_version;
  std::string command;
  std::vector<std::string> args;
  std::map<std::string, std::string> env;
  std::string install_hint;           // for people, when the command is missing
  bool provide_cluster_info = false;  // the plugin asks for spec.cluster in KUBERNETES_EXEC_INFO
  std::chrono::milliseconds timeout{60'000};
  friend bool operator==(const ExecPlugin&, const ExecPlugin&) = default;
};

struct Config {
  std::string server;  // "https://host:port"
  net::ClientTls tls;
  net::ClientOptions connections;
  std::string token;       // secret: never logged
  std::string token_file;  // re-read, since service account tokens rotate
  std::string username;    // basic authentication; with password
  std::string password;
  std::optional<ExecPlugin> exec;
  std::string namespace_ = "default";
};

// An empty `context` means current-context. `path` may be a list separated by ':', as in
// $KUBECONFIG: the first file that defines a name wins, and missing files are skipped.
// auth-provider, impersonation (`as`) and proxy-url are not supported and therefore refused. The
// error names the file, the context and the field.
base::Result<Config> load_kubeconfig(const std::string& path, const std::string& context = {});
base::Result<Config> parse_kubeconfig(std::string_view yaml, const std::string& directory,
                                      const std::string& context = {});
// From KUBERNETES_SERVICE_HOST and the mounted service account directory.
base::Result<Config> in_cluster_config(
    const std::function<std::optional<std::string>(const std::string&)>& environment,
    const std::string& account_directory = "/var/run/secrets/kubernetes.io/serviceaccount");

// HTTPS transport. Credentials of exec plugins and token files are refreshed before they expire
// and after a 401.
std::unique_ptr<Transport> make_transport(base::Loop& loop, Config config, base::Logger log,
                                          std::string user_agent);

}  // namespace millwright::kube
