// Keys and region from the metadata service that only an ECS instance can reach, in its hardened
// mode (a token first) where it has that.
#include "cloud/alibaba/keys/config_file.hpp"
#include "cloud/alibaba/keys/credentials.hpp"
#include "cloud/common/keys/local_endpoint.hpp"
#include "cloud/common/text/text.hpp"
#include "millwright/model/codec.hpp"

namespace millwright::cloud::alibaba {
namespace {

using base::ErrorKind;

constexpr std::string_view kMetadata = "http://100.100.100.200/latest/";
constexpr std::string_view kRolePath = "meta-data/ram/security-credentials/";

net::ClientRequest token_request() {
  auto request = local_request(std::string(kMetadata) + "api/token", "PUT");
  request.headers.set("X-aliyun-ecs-metadata-token-ttl-seconds", "21600");
  return request;
}

// An empty token: the service has no hardened mode.
net::ClientRequest data_request(std::string_view path, const std::string& token) {
  auto request = local_request(std::string(kMetadata).append(path));
  if (!token.empty()) {
    request.headers.set("X-aliyun-ecs-metadata-token", token);
  }
  return request;
}

base::Task<base::Result<std::string>> near_data(CredentialParts parts, std::string path,
                                                std::string token) {
  LocalQuestion question{.loop = parts.loop,
                         .client = parts.client,
                         .request = data_request(path, token),
                         .what = "instance metadata " + path};
  co_return co_await ask_locally(std::move(question));
}

bool is_off(const ProcessEnvironment& around) {
  return around.text("ALIBABA_CLOUD_ECS_METADATA_DISABLED") == "true";
}

bool needs_token(const ProcessEnvironment& around) {
  return around.text("ALIBABA_CLOUD_IMDSV1_DISABLED") == "true";
}

// Role names are part of a path.
bool is_role_name(std::string_view text) {
  return !text.empty() && text.size() <= 128 &&
         text.find_first_of("/?#% \t\r\n<>\"") == std::string_view::npos;
}

}  // namespace

base::Task<Found> from_metadata(CredentialParts parts, std::string role) {
  if (is_off(parts.environment)) {
    co_return std::optional<Credentials>();
  }
  const auto asked = co_await parts.client.send(token_request());
  if (!asked) {
    parts.log.debug("no instance metadata", {{"error", asked.error().message}});
    co_return std::optional<Credentials>();  // not an ECS instance
  }
  const std::string token = asked->status == 200 ? std::string(trimmed(asked->body)) : "";
  if (token.empty() && needs_token(parts.environment)) {
    co_return base::fail(ErrorKind::Denied,
                         "instance metadata gives no token (HTTP " + std::to_string(asked->status) +
                             "), and ALIBABA_CLOUD_IMDSV1_DISABLED forbids to do without");
  }
  const std::string folder(kRolePath);
  if (role.empty()) {
    auto listed = co_await near_data(parts, folder, token);
    if (!listed && listed.error().kind == ErrorKind::NotFound) {
      co_return std::optional<Credentials>();  // the instance has no role
    }
    MW_CO_TRY(names, std::move(listed));
    role = trimmed(names.substr(0, names.find('\n')));
    if (role.empty()) {
      co_return std::optional<Credentials>();
    }
  }
  if (!is_role_name(role)) {
    co_return base::fail(ErrorKind::Invalid, "the instance's RAM role has no proper name");
  }
  MW_CO_TRY(text, co_await near_data(parts, folder + role, token));
  const auto json = model::parse_json(text);
  const auto what = "instance metadata for the RAM role " + role;
  if (!json) {
    co_return base::fail(ErrorKind::Unavailable, what + ": the answer is not JSON");
  }
  auto keys = read_keys(*json, what);
  MW_CO_TRY(credentials, std::move(keys));
  co_return std::optional(std::move(credentials));
}

base::Result<std::string> find_region(const ProcessEnvironment& environment, net::Client& client) {
  for (const std::string name : {"ALIBABA_CLOUD_REGION_ID", "ALIBABA_CLOUD_REGION", "REGION_ID"}) {
    if (auto region = environment.text(name); !region.empty()) {
      return region;
    }
  }
  if (environment.text("ALIBABA_CLOUD_CLI_PROFILE_DISABLED") != "true") {
    MW_TRY(given, load_config_profile(environment));
    if (given && !given->region_id.empty()) {
      return given->region_id;
    }
  }
  if (!is_off(environment)) {
    const auto asked = client.send_blocking(token_request());
    if (asked) {
      const std::string token = asked->status == 200 ? std::string(trimmed(asked->body)) : "";
      const auto region = client.send_blocking(data_request("meta-data/region-id", token));
      if (region && region->status == 200 && !trimmed(region->body).empty()) {
        return std::string(trimmed(region->body));
      }
    }
  }
  return base::fail(ErrorKind::Invalid,
                    "the Alibaba Cloud region is not known; set ALIBABA_CLOUD_REGION_ID or "
                    "--alibaba-region");
}

}  // namespace millwright::cloud::alibaba
