// Keeps the certificates of the webhooks and the extender in a Secret that every replica shares.
// They are issued when absent and renewed in time; empty tls.crt or client.key to renew at once, or
// ca.key for a new CA. A deleted Secret is written again. Servers get every new bundle, and the
// webhook configurations get its CA.
//
// A Secret that somebody else keeps (cert-manager, or a certificate that a person supplied) is read
// and never written: a field ca.key or its absence tells whose it is.
#pragma once

#include "millwright/base/log.hpp"
#include "millwright/base/metrics.hpp"
#include "millwright/certs/certs.hpp"
#include "millwright/kube/client.hpp"

#include <boost/json/value.hpp>

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace millwright::controllers {

struct CertificateOptions {
  std::string namespace_ = "kube-system";
  std::string secret = "millwright-certs";
  // Somebody else keeps the Secret: while it is absent it is waited for.
  bool supplied = false;
  certs::Policy policy;
  // Name of the mutating and the validating webhook configuration that get the CA, if they exist.
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
  // Reads the Secret once, writes what is due and hands a new bundle to `on_bundle`.
  base::Task<base::Result<certs::Bundle>> keep();

 private:
  using Secret = std::optional<boost::json::value>;  // nullopt: there is none

  base::Task<base::Result<Secret>> read();
  base::Result<certs::Bundle> take_supplied(const Secret& secret) const;
  base::Task<base::Result<certs::Bundle>> keep_own(Secret secret);
  base::Task<base::Result<>> hand_out(certs::Bundle bundle);
  base::Task<base::Result<>> inject(model::Resource resource, std::string ca_bundle);

  kube::Client& client_;
  base::Metrics& metrics_;
  base::Logger log_;
  CertificateOptions options_;
  std::function<void(const certs::Bundle&)> on_bundle_;
  std::optional<certs::Bundle> current_;
};

}  // namespace millwright::controllers
