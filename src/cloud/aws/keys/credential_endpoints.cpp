// Keys from endpoints that only this machine or pod can reach: EKS Pod Identity and ECS (the
// container endpoint), and EC2 instance metadata, version 2 only.
#include "cloud/aws/keys/credentials.hpp"
#include "cloud/aws/keys/profile_file.hpp"
#include "cloud/common/keys/local_endpoint.hpp"
#include "cloud/common/text/text.hpp"
#include "millwright/model/codec.hpp"

#include <algorithm>
#include <array>

namespace millwright::cloud::aws {
namespace {

using base::ErrorKind;

// Keys must not travel in clear text over a network: http is for these hosts only.
constexpr std::array<std::string_view, 6> kLocalHosts{
    "localhost", "127.0.0.1", "[::1]", "169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"};

bool is_acceptable(std::string_view url) {
  if (url.starts_with("https://")) {
    return true;
  }
  constexpr std::string_view kHttp = "http://";
  if (!url.starts_with(kHttp)) {
    return false;
  }
  url.remove_prefix(kHttp.size());
  const auto host = url.substr(0, url.find_first_of("/?"));
  return std::any_of(kLocalHosts.begin(), kLocalHosts.end(), [host](std::string_view local) {
    return host.starts_with(local) && (host.size() == local.size() || host[local.size()] == ':');
  });
}

base::Task<base::Result<std::string>> fetch(CredentialParts parts, net::ClientRequest request,
                                            std::string what) {
  return ask_locally({.loop = parts.loop,
                      .client = parts.client,
                      .request = std::move(request),
                      .what = std::move(what)});
}

base::Result<Credentials> parse_keys(const std::string& body, const std::string& what) {
  const auto json = model::parse_json(body);
  if (!json || !json->is_object()) {
    return base::fail(ErrorKind::Unavailable, what + ": the answer is not a JSON object");
  }
  if (const auto code = model::text_at(*json, "Code"); !code.empty() && code != "Success") {
    return base::fail(ErrorKind::Denied, what + ": " + std::string(code));
  }
  Credentials credentials;
  credentials.access_key_id = model::text_at(*json, "AccessKeyId");
  credentials.secret_access_key = model::text_at(*json, "SecretAccessKey");
  credentials.session_token = model::text_at(*json, "Token");
  credentials.expires_at = base::parse_rfc3339(model::text_at(*json, "Expiration"));
  if (credentials.access_key_id.empty() || credentials.secret_access_key.empty()) {
    return base::fail(ErrorKind::Unavailable, what + ": the answer has no complete keys");
  }
  return credentials;
}

// EKS rotates the token in the file.
base::Result<std::string> authorization_of(const ProcessEnvironment& around) {
  const auto file = around.text("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
  auto token = around.text("AWS_CONTAINER_AUTHORIZATION_TOKEN");
  if (!file.empty()) {
    auto read = around.read_file(file);
    if (!read) {
      return base::with_context("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", std::move(read).error());
    }
    token = trimmed(*read);
  }
  if (token.find_first_of("\r\n") != std::string::npos) {
    return base::fail(ErrorKind::Invalid,
                      "the container authorization token must be a single line");
  }
  return token;
}

std::string metadata_base(const ProcessEnvironment& around) {
  auto base = around.text("AWS_EC2_METADATA_SERVICE_ENDPOINT");
  if (base.empty()) {
    const bool v6 = around.text("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE") == "IPv6";
    return v6 ? "http://[fd00:ec2::254]" : "http://169.254.169.254";
  }
  while (base.ends_with('/')) {
    base.pop_back();
  }
  return base;
}

net::ClientRequest metadata_request(const ProcessEnvironment& around, std::string token,
                                    std::string_view path) {
  auto request = local_request(metadata_base(around).append("/latest/meta-data/").append(path));
  request.headers.set("X-aws-ec2-metadata-token", std::move(token));
  return request;
}

net::ClientRequest metadata_token_request(const ProcessEnvironment& around) {
  auto request = local_request(metadata_base(around).append("/latest/api/token"), "PUT");
  request.headers.set("X-aws-ec2-metadata-token-ttl-seconds", "21600");
  return request;
}

base::Task<base::Result<std::string>> metadata(CredentialParts parts, std::string token,
                                               std::string path) {
  auto request = metadata_request(parts.environment, std::move(token), path);
  co_return co_await fetch(parts, std::move(request), "instance metadata " + path);
}

base::Task<base::Result<std::string>> metadata_token(CredentialParts parts) {
  auto request = local_request(metadata_base(parts.environment).append("/latest/api/token"), "PUT");
  request.headers.set("X-aws-ec2-metadata-token-ttl-seconds", "21600");
  co_return co_await fetch(parts, std::move(request), "instance metadata token");
}

bool metadata_is_off(const ProcessEnvironment& around) {
  return around.text("AWS_EC2_METADATA_DISABLED") == "true";
}

}  // namespace

base::Task<Found> from_container(CredentialParts parts) {
  const auto& around = parts.environment;
  auto url = around.text("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  if (const auto path = around.text("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"); !path.empty()) {
    url = "http://169.254.170.2" + path;
  }
  if (url.empty()) {
    co_return std::optional<Credentials>();
  }
  if (!is_acceptable(url)) {
    co_return base::fail(ErrorKind::Invalid,
                         "AWS_CONTAINER_CREDENTIALS_FULL_URI: expected https, or http to the "
                         "machine itself or to the container credential address");
  }
  auto token = authorization_of(around);
  MW_CO_TRY(authorization, std::move(token));
  auto request = local_request(url);
  if (!authorization.empty()) {
    request.headers.set("Authorization", authorization);
  }
  const std::string what = "container credentials";
  MW_CO_TRY(text, co_await fetch(parts, std::move(request), what));
  auto keys = parse_keys(text, what);
  MW_CO_TRY(credentials, std::move(keys));
  co_return std::optional(std::move(credentials));
}

base::Task<Found> from_instance_metadata(CredentialParts parts) {
  if (metadata_is_off(parts.environment)) {
    co_return std::optional<Credentials>();
  }
  auto token = co_await metadata_token(parts);
  if (!token) {
    // Not an EC2 instance, or a pod behind a hop limit of one.
    parts.log.debug("no instance metadata", {{"error", token.error().message}});
    co_return std::optional<Credentials>();
  }
  const std::string path = "iam/security-credentials/";
  auto listed = co_await metadata(parts, *token, path);
  if (!listed && listed.error().kind == ErrorKind::NotFound) {
    co_return std::optional<Credentials>();  // the instance has no role
  }
  MW_CO_TRY(roles, std::move(listed));
  const std::string role(trimmed(roles.substr(0, roles.find('\n'))));
  if (role.empty()) {
    co_return std::optional<Credentials>();
  }
  MW_CO_TRY(text, co_await metadata(parts, *token, path + net::url_encode(role)));
  auto keys = parse_keys(text, "instance metadata for the role " + role);
  MW_CO_TRY(credentials, std::move(keys));
  co_return std::optional(std::move(credentials));
}

base::Result<std::string> find_region(const CredentialParts& parts) {
  const auto& around = parts.environment;
  for (const std::string name : {"AWS_REGION", "AWS_DEFAULT_REGION"}) {
    if (auto region = around.text(name); !region.empty()) {
      return region;
    }
  }
  MW_TRY(profiles, load_profiles(around));
  const auto profile = profiles.find(profile_name(around));
  if (profile != profiles.end()) {
    const auto region = profile->second.find("region");
    if (region != profile->second.end() && !region->second.empty()) {
      return region->second;
    }
  }
  if (!metadata_is_off(around)) {
    auto asking = metadata_token_request(around);
    const auto token = parts.client.send_blocking(std::move(asking));
    if (token && token->status == 200) {
      const auto region =
          parts.client.send_blocking(metadata_request(around, token->body, "placement/region"));
      if (region && region->status == 200 && !trimmed(region->body).empty()) {
        return std::string(trimmed(region->body));
      }
    }
  }
  return base::fail(ErrorKind::Invalid, "the AWS region is not known; set AWS_REGION");
}

}  // namespace millwright::cloud::aws
