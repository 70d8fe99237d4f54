// The certificates of the webhooks and the extender, kept in a Secret that every replica shares:
// issued when absent, renewed in time (at once when somebody empties tls.crt, or ca.key for another
// CA), put back when somebody deletes the Secret, handed to the servers as they change, and their
// CA written into the webhook configurations.
#pragma once

#include "millwright/base/log.hpp"
#include "millwright/base/metrics.hpp"
#include "millwright/certs/certs.hpp"
#include "millwright/kube/client.hpp"

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace millwright::controllers {

struct CertificateOptions {
  std::string namespace_ = "kube-system";
  std::string secret = "millwright-certs";
  certs::Policy policy;
  // Names of the mutating and validating webhook configurations to keep; missing ones are left.
  std::string webhook_configuration = "millwright";
  base::Duration look_again = std::chrono::minutes(1);
};

class Certificates {
 public:
  // `on_bundle` is called on the loop with every new bundle, the first one included.
  Certificates(kube::Client& client, base::Metrics& metrics, base::Logger log,
               CertificateOptions options, std::function<void(const certs::Bundle&)> on_bundle);

  // Until `stop`. Failures are logged and tried again; the last good bundle stays in use.
  base::Task<void> run(std::stop_token stop);
  // One look: reads the Secret, writes what is due, tells what changed.
  base::Task<base::Result<certs::Bundle>> keep();

 private:
  base::Task<base::Result<>> inject(model::Resource resource, std::string ca_bundle);

  kube::Client& client_;
  base::Metrics& metrics_;
  base::Logger log_;
  CertificateOptions options_;
  std::function<void(const certs::Bundle&)> on_bundle_;
  std::optional<certs::Bundle> current_;
};

}  // namespace millwright::controllers
