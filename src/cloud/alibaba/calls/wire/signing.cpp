#include "cloud/alibaba/calls/wire/signing.hpp"

#include "cloud/common/text/digest.hpp"
#include "cloud/common/text/text.hpp"
#include "cloud/common/text/url.hpp"
#include "millwright/base/base64.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace millwright::cloud::alibaba {
namespace {

constexpr std::string_view kAcs3 = "ACS3-HMAC-SHA256";

// The pairs are encoded already; a key without "=" has an empty value.
std::string sorted_query(std::string_view query) {
  std::vector<std::pair<std::string, std::string_view>> pairs;
  while (!query.empty()) {
    const auto end = query.find('&');
    const auto each = query.substr(0, end);
    query.remove_prefix(end == std::string_view::npos ? query.size() : end + 1);
    const auto equals = each.find('=');
    // Keys are compared as they are, not as they are encoded.
    pairs.emplace_back(net::url_decode(each.substr(0, equals)),
                       equals == std::string_view::npos ? "" : each.substr(equals + 1));
  }
  std::sort(pairs.begin(), pairs.end());
  std::string out;
  for (const auto& [key, value] : pairs) {
    out.append(out.empty() ? "" : "&").append(net::url_encode(key)).append("=").append(value);
  }
  return out;
}

}  // namespace

Acs3Signature acs3_signature_of(const net::ClientRequest& request, const Credentials& credentials) {
  const auto url = split_url(request.url);
  std::map<std::string, std::string> headers{{"host", std::string(url.authority)}};
  for (const auto& [name, value] : request.headers) {
    headers.insert_or_assign(lower_case(name), std::string(trimmed(value)));
  }
  Acs3Signature result;
  auto& canonical = result.canonical_request;
  canonical.append(request.method).append("\n");
  canonical.append(url.path.empty() ? "/" : url.path).append("\n");
  canonical.append(sorted_query(url.query)).append("\n");
  std::string signed_headers;
  for (const auto& [name, value] : headers) {
    canonical.append(name).append(":").append(value).append("\n");
    signed_headers.append(signed_headers.empty() ? "" : ";").append(name);
  }
  canonical.append("\n").append(signed_headers).append("\n");
  canonical.append(headers["x-acs-content-sha256"]);

  result.string_to_sign.append(kAcs3).append("\n").append(to_hex(sha256(canonical)));
  result.authorization.append(kAcs3).append(" Credential=").append(credentials.access_key_id);
  result.authorization.append(",SignedHeaders=").append(signed_headers).append(",Signature=");
  result.authorization.append(
      to_hex(hmac_sha256(credentials.secret_access_key, result.string_to_sign)));
  return result;
}

void sign_acs3(net::ClientRequest& request, const Operation& operation,
               const Credentials& credentials, const Stamp& stamp) {
  request.headers.set("x-acs-action", operation.action);
  request.headers.set("x-acs-version", operation.version);
  request.headers.set("x-acs-date", base::format_rfc3339(stamp.now));
  request.headers.set("x-acs-signature-nonce", stamp.nonce);
  request.headers.set("x-acs-content-sha256", to_hex(sha256(request.body)));
  if (!credentials.session_token.empty()) {
    request.headers.set("x-acs-security-token", credentials.session_token);
    request.headers.set("x-acs-accesskey-id", credentials.access_key_id);
  }
  auto authorization = acs3_signature_of(request, credentials).authorization;
  request.headers.set("Authorization", std::move(authorization));
}

RpcSignature rpc_signature_of(std::string_view method, const Parameters& parameters,
                              std::string_view secret_access_key) {
  RpcSignature result;
  result.canonical_query = parameters.query();
  result.string_to_sign.append(method).append("&%2F&");
  result.string_to_sign.append(net::url_encode(result.canonical_query));
  const auto key = std::string(secret_access_key).append("&");
  result.signature = base::encode_base64(hmac_sha1(key, result.string_to_sign));
  return result;
}

void sign_rpc(std::string_view method, Parameters& parameters, const Operation& operation,
              const Credentials& credentials, const Stamp& stamp) {
  parameters.set("Action", operation.action).set("Version", operation.version);
  parameters.set("Format", "JSON").set("AccessKeyId", credentials.access_key_id);
  parameters.set("SignatureMethod", "HMAC-SHA1").set("SignatureVersion", "1.0");
  parameters.set("SignatureNonce", stamp.nonce);
  parameters.set("Timestamp", base::format_rfc3339(stamp.now));
  if (!credentials.session_token.empty()) {
    parameters.set("SecurityToken", credentials.session_token);
  }
  auto signature = rpc_signature_of(method, parameters, credentials.secret_access_key).signature;
  parameters.set("Signature", std::move(signature));
}

}  // namespace millwright::cloud::alibaba
