#include "cloud/huawei/calls/wire/signing.hpp"

#include "cloud/common/text/digest.hpp"
#include "cloud/common/text/text.hpp"
#include "cloud/common/text/url.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace millwright::cloud::huawei {
namespace {

constexpr std::string_view kSigningAlgorithm = "SDK-HMAC-SHA256";
constexpr std::string_view kDateHeader = "X-Sdk-Date";
constexpr std::string_view kContentHeader = "X-Sdk-Content-Sha256";
constexpr std::string_view kUnsignedPayload = "UNSIGNED-PAYLOAD";

// Decoded as a whole before it is split, so that an encoded slash parts segments, and with a slash
// at the end that the request itself does not have.
std::string canonical_uri(std::string_view path) {
  const std::string decoded = net::url_decode(path);
  std::string out;
  for (const auto segment : split(decoded, '/')) {
    out.append(net::url_encode(segment)).append("/");
  }
  if (out.ends_with("//")) {
    out.pop_back();
  }
  return out;
}

// In the order of the decoded names and values.
std::string sorted_query(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto each : split(query, '&')) {
    const auto equals = each.find('=');
    if (!each.empty()) {
      pairs.emplace_back(net::url_decode(each.substr(0, equals)),
                         equals == std::string_view::npos
                             ? std::string()
                             : net::url_decode(each.substr(equals + 1)));
    }
  }
  std::sort(pairs.begin(), pairs.end());
  std::string out;
  for (const auto& [key, value] : pairs) {
    out.append(out.empty() ? "" : "&").append(net::url_encode(key)).append("=");
    out.append(net::url_encode(value));
  }
  return out;
}

bool is_signed_body(const net::ClientRequest& request) {
  const auto type = request.headers.get("Content-Type");
  return request.body.empty() || type.starts_with("application/json") ||
         type.starts_with("application/bson");
}

// "20260102T030405Z"
std::string sdk_date(base::TimePoint now) {
  std::string text = base::format_rfc3339(now);
  std::erase_if(text, [](char c) { return c == '-' || c == ':'; });
  return text;
}

}  // namespace

Signature signature_of(const net::ClientRequest& request, const Credentials& credentials) {
  const auto url = split_url(request.url);
  std::map<std::string, std::string> headers{{"host", std::string(url.authority)}};
  for (const auto& [name, value] : request.headers) {
    if (name.find('_') == std::string::npos) {
      headers.insert_or_assign(lower_case(name), std::string(trimmed(value)));
    }
  }
  Signature result;
  auto& canonical = result.canonical_request;
  canonical.append(request.method).append("\n");
  canonical.append(canonical_uri(url.path)).append("\n");
  canonical.append(sorted_query(url.query)).append("\n");
  std::string signed_headers;
  for (const auto& [name, value] : headers) {
    canonical.append(name).append(":").append(value).append("\n");
    signed_headers.append(signed_headers.empty() ? "" : ";").append(name);
  }
  canonical.append("\n").append(signed_headers).append("\n");
  const auto content = request.headers.get(kContentHeader);
  canonical.append(content.empty() ? to_hex(sha256(request.body)) : std::string(content));

  result.string_to_sign.append(kSigningAlgorithm).append("\n");
  result.string_to_sign.append(request.headers.get(kDateHeader)).append("\n");
  result.string_to_sign.append(to_hex(sha256(canonical)));

  result.authorization.append(kSigningAlgorithm).append(" Access=");
  result.authorization.append(credentials.access_key_id);
  result.authorization.append(", SignedHeaders=").append(signed_headers).append(", Signature=");
  result.authorization.append(
      to_hex(hmac_sha256(credentials.secret_access_key, result.string_to_sign)));
  return result;
}

void sign(net::ClientRequest& request, const Credentials& credentials, base::TimePoint now) {
  request.headers.set(std::string(kDateHeader), sdk_date(now));
  if (!credentials.session_token.empty()) {
    request.headers.set("X-Security-Token", credentials.session_token);
  }
  if (!is_signed_body(request)) {
    request.headers.set(std::string(kContentHeader), std::string(kUnsignedPayload));
  }
  auto authorization = signature_of(request, credentials).authorization;
  request.headers.set("Authorization", std::move(authorization));
}

}  // namespace millwright::cloud::huawei
