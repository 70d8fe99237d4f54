// How the sandbox's API server reaches admission webhooks and its scheduler reaches the extender:
// over HTTPS as in a cluster, or in process when time is virtual.
#pragma once

#include "millwright/base/result.hpp"
#include "millwright/base/task.hpp"
#include "millwright/extender/extender.hpp"
#include "millwright/net/client.hpp"
#include "millwright/webhooks/admission.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace millwright::sandbox {

class ApiServer;

// What a webhook's clientConfig says.
struct WebhookTarget {
  std::string url;                // empty when it names a service
  std::string service_namespace;  // with service_name, service_path and service_port
  std::string service_name;
  std::string path;  // "/validate"; for a url its path
  int service_port = 443;
  std::string ca_pem;
  std::chrono::milliseconds timeout{10'000};
};

class AdmissionCaller {
 public:
  virtual ~AdmissionCaller() = default;
  // AdmissionReview in, AdmissionReview out. On an error the webhook's failurePolicy decides.
  virtual base::Task<base::Result<std::string>> call(WebhookTarget target, std::string review) = 0;
};

// Paths that end in "/mutate" and "/validate". `admission` must outlive the caller.
std::shared_ptr<AdmissionCaller> in_process_admission(const webhooks::Admission& admission);
// `resolve` turns a service target into a base URL ("https://127.0.0.1:8443"); the certificate is
// verified for "<name>.<namespace>.svc", as an API server does.
std::shared_ptr<AdmissionCaller> https_admission(
    base::Loop& loop, std::function<std::string(const WebhookTarget&)> resolve);

// Stores the mutating and validating webhook configurations for Millwright's kinds, failurePolicy
// Ignore, calling <base_url>/mutate and <base_url>/validate.
base::Result<> register_webhooks(ApiServer& server, const std::string& base_url,
                                 const std::string& ca_pem);

class ExtenderCaller {
 public:
  virtual ~ExtenderCaller() = default;
  // `verb` is filter, prioritize or preempt. Only a 200 answer is a body.
  virtual base::Task<base::Result<std::string>> call(std::string verb, std::string body) = 0;
};

// `extender` must outlive the caller.
std::shared_ptr<ExtenderCaller> in_process_extender(const extender::Extender& extender);
std::shared_ptr<ExtenderCaller> https_extender(
    base::Loop& loop, std::string url_prefix, net::ClientTls tls,
    std::chrono::milliseconds timeout = std::chrono::milliseconds(5'000));

}  // namespace millwright::sandbox
