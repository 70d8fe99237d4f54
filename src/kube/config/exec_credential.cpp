// The texts exchanged with credential plugins ("client-go credential plugins" of the Kubernetes
// authentication page).
#include "kube/calls/json.hpp"
#include "kube/config/credentials.hpp"
#include "kube/config/files.hpp"
#include "millwright/base/base64.hpp"

#include <boost/json/serialize.hpp>

#include <algorithm>
#include <utility>

namespace millwright::kube {
namespace {

namespace json = boost::json;
using base::ErrorKind;

// How long before its end a credential is replaced, unless it is short-lived.
constexpr base::Duration kRefreshAhead = std::chrono::minutes(1);

}  // namespace

base::Result<Credential> parse_exec_credential(const std::string& text, const ExecPlugin& plugin,
                                               base::TimePoint now) {
  const auto invalid = [&plugin](std::string_view problem) {
    return base::fail(ErrorKind::Unavailable, "exec plugin " + plugin.command +
                                                  ": what it printed " + std::string(problem));
  };
  const auto parsed = model::parse_json(text);
  if (!parsed) {
    return invalid("is not JSON");
  }
  if (text_at(*parsed, "kind") != "ExecCredential") {
    return invalid("is not of kind ExecCredential");
  }
  if (text_at(*parsed, "apiVersion") != plugin.api_version) {
    return invalid("has another apiVersion than the " + plugin.api_version + " asked for");
  }
  Credential credential;
  const auto token = text_at(*parsed, "status.token");
  credential.certificate_pem = text_at(*parsed, "status.clientCertificateData");
  credential.key_pem = text_at(*parsed, "status.clientKeyData");
  if (credential.certificate_pem.empty() != credential.key_pem.empty()) {
    return invalid("has only one of clientCertificateData and clientKeyData");
  }
  if (!credential.certificate_pem.empty() && (!has_pem(credential.certificate_pem, "CERTIFICATE") ||
                                              !has_pem(credential.key_pem, "PRIVATE KEY"))) {
    return invalid("has a client certificate or key that is not PEM");
  }
  if (token.empty() && credential.certificate_pem.empty()) {
    return invalid("has neither status.token nor a client certificate");
  }
  if (!token.empty()) {
    auto clean = clean_token(token);
    if (!clean) {
      return invalid("has a token that cannot be used: " + clean.error().message);
    }
    credential.authorization = "Bearer " + *std::move(clean);
  }
  if (const auto expiry = text_at(*parsed, "status.expirationTimestamp"); !expiry.empty()) {
    const auto end = base::parse_rfc3339(expiry);
    if (!end) {
      return invalid("has an expirationTimestamp that is not RFC 3339");
    }
    if (*end <= now) {
      return invalid("has expired already");
    }
    credential.refresh_at = *end - std::min(kRefreshAhead, (*end - now) / 5);
  }
  return credential;
}

std::string exec_info(const ExecPlugin& plugin, const Config& config) {
  json::object spec{{"interactive", false}};
  if (plugin.provide_cluster_info) {
    json::object cluster{{"server", config.server}};
    if (!config.tls.server_name.empty()) {
      cluster["tls-server-name"] = config.tls.server_name;
    }
    if (config.tls.insecure_skip_verify) {
      cluster["insecure-skip-tls-verify"] = true;
    }
    if (!config.tls.ca_pem.empty()) {
      cluster["certificate-authority-data"] = base::encode_base64(config.tls.ca_pem);
    }
    spec["cluster"] = std::move(cluster);
  }
  return json::serialize(json::object{
      {"apiVersion", plugin.api_version}, {"kind", "ExecCredential"}, {"spec", std::move(spec)}});
}

}  // namespace millwright::kube
