#include "cloud/aws/calls/wire/signing.hpp"

#include "cloud/common/text/digest.hpp"
#include "cloud/common/text/text.hpp"
#include "cloud/common/text/url.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace millwright::cloud::aws {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";

// Removes dot segments and doubled slashes and encodes the rest once more, even where it is encoded
// already: every service but S3 wants it so.
std::string canonical_path(std::string_view path) {
  std::vector<std::string_view> kept;
  for (const auto segment : split(path, '/')) {
    if (segment == "..") {
      if (!kept.empty()) {
        kept.pop_back();
      }
    } else if (!segment.empty() && segment != ".") {
      kept.push_back(segment);
    }
  }
  std::string out;
  for (const auto segment : kept) {
    out.append("/").append(net::url_encode(segment));
  }
  if (out.empty() || path.ends_with('/')) {
    out += '/';
  }
  return out;
}

std::string canonical_query(std::string_view query) {
  if (query.empty()) {
    return {};
  }
  std::vector<std::pair<std::string_view, std::string_view>> pairs;
  for (const auto each : split(query, '&')) {
    const auto equals = each.find('=');
    pairs.emplace_back(each.substr(0, equals),
                       equals == std::string_view::npos ? "" : each.substr(equals + 1));
  }
  std::sort(pairs.begin(), pairs.end());
  std::string out;
  for (const auto& [key, value] : pairs) {
    out.append(out.empty() ? "" : "&").append(key).append("=").append(value);
  }
  return out;
}

// Without white space at the ends; runs of spaces inside become one.
std::string folded(std::string_view value) {
  std::string out;
  for (const auto word : split(value, ' ')) {
    if (!word.empty()) {
      out.append(out.empty() ? "" : " ").append(word);
    }
  }
  return out;
}

// "20260102T030405Z"
std::string amz_date(base::TimePoint now) {
  std::string text = base::format_rfc3339(now);
  std::erase_if(text, [](char c) { return c == '-' || c == ':'; });
  return text;
}

std::string signing_key(const Credentials& credentials, std::string_view day,
                        const SigningScope& scope) {
  auto key = hmac_sha256("AWS4" + credentials.secret_access_key, day);
  key = hmac_sha256(key, scope.region);
  key = hmac_sha256(key, scope.service);
  return hmac_sha256(key, "aws4_request");
}

}  // namespace

Signature signature_of(const net::ClientRequest& request, const SigningScope& scope,
                       const Credentials& credentials) {
  const auto url = split_url(request.url);
  std::map<std::string, std::string> headers{{"host", std::string(url.authority)}};
  for (const auto& [name, value] : request.headers) {
    headers.insert_or_assign(lower_case(name), folded(value));
  }
  Signature result;
  auto& canonical = result.canonical_request;
  canonical.append(request.method).append("\n");
  canonical.append(canonical_path(url.path)).append("\n");
  canonical.append(canonical_query(url.query)).append("\n");
  std::string signed_headers;
  for (const auto& [name, value] : headers) {
    canonical.append(name).append(":").append(value).append("\n");
    signed_headers.append(signed_headers.empty() ? "" : ";").append(name);
  }
  canonical.append("\n").append(signed_headers).append("\n");
  canonical.append(to_hex(sha256(request.body)));

  const auto& date = headers["x-amz-date"];
  const auto day = std::string_view(date).substr(0, 8);
  std::string scope_text(day);
  scope_text.append("/").append(scope.region).append("/").append(scope.service);
  scope_text.append("/aws4_request");
  result.string_to_sign.append(kAlgorithm).append("\n").append(date).append("\n");
  result.string_to_sign.append(scope_text).append("\n");
  result.string_to_sign.append(to_hex(sha256(canonical)));

  result.authorization.append(kAlgorithm).append(" Credential=");
  result.authorization.append(credentials.access_key_id).append("/").append(scope_text);
  result.authorization.append(", SignedHeaders=").append(signed_headers).append(", Signature=");
  result.authorization.append(
      to_hex(hmac_sha256(signing_key(credentials, day, scope), result.string_to_sign)));
  return result;
}

void sign(net::ClientRequest& request, const SigningScope& scope, const Credentials& credentials,
          base::TimePoint now) {
  request.headers.set("X-Amz-Date", amz_date(now));
  if (!credentials.session_token.empty()) {
    request.headers.set("X-Amz-Security-Token", credentials.session_token);
  }
  auto authorization = signature_of(request, scope, credentials).authorization;
  request.headers.set("Authorization", std::move(authorization));
}

}  // namespace millwright::cloud::aws
