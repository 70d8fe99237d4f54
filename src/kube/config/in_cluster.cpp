// The service account that every pod may have mounted ("Accessing the Kubernetes API from a Pod").
#include "kube/config/files.hpp"
#include "millwright/kube/config.hpp"

#include <utility>

namespace millwright::kube {

using base::ErrorKind;

base::Result<Config> in_cluster_config(
    const std::function<std::optional<std::string>(const std::string&)>& environment,
    const std::string& account_directory) {
  const auto host = environment("KUBERNETES_SERVICE_HOST").value_or("");
  const auto port = environment("KUBERNETES_SERVICE_PORT").value_or("");
  if (host.empty() || port.empty()) {
    return base::fail(ErrorKind::NotFound,
                      "not inside a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT "
                      "are not set; give a kubeconfig");
  }
  const bool is_ipv6 = host.find(':') != std::string::npos;
  Config config;
  config.server = "https://" + (is_ipv6 ? "[" + host + "]" : host) + ":" + port;
  config.token_file = account_directory + "/token";
  if (auto token = read_file(config.token_file); !token) {
    return base::fail(token.error().kind,
                      "inside a cluster, but without a service account: " + token.error().message +
                          "; set automountServiceAccountToken to true");
  }
  auto ca = read_file(account_directory + "/ca.crt");
  if (!ca || !has_pem(*ca, "CERTIFICATE")) {
    return base::fail(ErrorKind::Invalid,
                      account_directory + "/ca.crt: " +
                          (ca ? "has no PEM block of the kind CERTIFICATE" : ca.error().message));
  }
  config.tls.ca_pem = *std::move(ca);
  if (auto ns = read_file(account_directory + "/namespace")) {
    if (auto clean = clean_token(*ns)) {
      config.namespace_ = *std::move(clean);
    }
  }
  return config;
}

}  // namespace millwright::kube
