#include "controllers/process/certificate_secret.hpp"

#include "millwright/base/base64.hpp"
#include "millwright/model/codec.hpp"
#include "millwright/model/kinds.hpp"

#include <boost/json.hpp>

namespace millwright::controllers {
namespace {

namespace json = boost::json;

std::optional<std::string> part(const json::value& secret, std::string_view key) {
  const auto* data = secret.is_object() ? secret.as_object().if_contains("data") : nullptr;
  const auto* value =
      data != nullptr && data->is_object() ? data->as_object().if_contains(key) : nullptr;
  if (value == nullptr || !value->is_string()) {
    return std::nullopt;
  }
  auto decoded = base::decode_base64(value->as_string());
  return decoded ? std::optional<std::string>(*std::move(decoded)) : std::nullopt;
}

// The one that signs.
std::string first_certificate(std::string pem) {
  constexpr std::string_view kEnd = "-----END CERTIFICATE-----\n";
  const auto end = pem.find(kEnd);
  return end == std::string::npos ? pem : pem.substr(0, end + kEnd.size());
}

}  // namespace

json::value to_secret(const certs::Bundle& bundle, const std::string& namespace_,
                      const std::string& name, base::TimePoint now) {
  json::object data{{"tls.crt", base::encode_base64(bundle.leaf.certificate_pem)},
                    {"tls.key", base::encode_base64(bundle.leaf.key_pem)},
                    {"ca.crt", base::encode_base64(bundle.trust_pem(now))},
                    {"ca.key", base::encode_base64(bundle.ca.key_pem)},
                    {"client.crt", base::encode_base64(bundle.client.certificate_pem)},
                    {"client.key", base::encode_base64(bundle.client.key_pem)}};
  if (!bundle.previous_ca_pem.empty()) {
    data["previous-ca.crt"] = base::encode_base64(bundle.previous_ca_pem);
    data["previous-ca-until"] = base::encode_base64(base::format_rfc3339(bundle.previous_ca_until));
  }
  return json::object{{"apiVersion", model::kSecretResource.api_version()},
                      {"kind", model::kSecretResource.kind},
                      {"metadata", json::object{{"namespace", namespace_}, {"name", name}}},
                      {"type", "kubernetes.io/tls"},
                      {"data", std::move(data)}};
}

std::optional<certs::Bundle> from_secret(const json::value& secret) {
  auto certificate = part(secret, "tls.crt");
  auto key = part(secret, "tls.key");
  auto ca = part(secret, "ca.crt");
  auto ca_key = part(secret, "ca.key");
  if (!certificate || !key || !ca || !ca_key) {
    return std::nullopt;
  }
  certs::Bundle bundle{
      .ca = {first_certificate(*std::move(ca)), *std::move(ca_key)},
      .previous_ca_pem = part(secret, "previous-ca.crt").value_or(""),
      .previous_ca_until = {},
      .leaf = {*std::move(certificate), *std::move(key)},
      .client = {part(secret, "client.crt").value_or(""), part(secret, "client.key").value_or("")}};
  if (const auto until = part(secret, "previous-ca-until")) {
    bundle.previous_ca_until = base::parse_rfc3339(*until).value_or(base::TimePoint{});
  }
  return bundle;
}

bool is_supplied(const json::value& secret) {
  const auto meta = model::decode_meta(secret);
  if (meta && meta->annotations.contains("cert-manager.io/certificate-name")) {
    return true;
  }
  const auto has = [&secret](std::string_view key) {
    return !part(secret, key).value_or("").empty();
  };
  return has("tls.crt") && has("tls.key") && !part(secret, "ca.key");
}

base::Result<certs::Bundle> supplied_bundle(const json::value& secret) {
  certs::Bundle bundle;
  bundle.leaf = {part(secret, "tls.crt").value_or(""), part(secret, "tls.key").value_or("")};
  bundle.ca.certificate_pem = part(secret, "ca.crt").value_or("");
  if (bundle.leaf.certificate_pem.empty() || bundle.leaf.key_pem.empty()) {
    return base::fail(base::ErrorKind::Invalid,
                      "the Secret has no tls.crt or no tls.key; whoever keeps it must write both");
  }
  return bundle;
}

}  // namespace millwright::controllers
