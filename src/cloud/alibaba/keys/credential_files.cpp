// Keys from the environment, from OIDC (RRSA) and from the command line tool's file.
#include "cloud/alibaba/keys/config_file.hpp"
#include "cloud/alibaba/keys/credentials.hpp"
#include "cloud/common/text/text.hpp"
#include "millwright/model/codec.hpp"

namespace millwright::cloud::alibaba {
namespace {

using base::ErrorKind;

constexpr std::string_view kSessionName = "millwright";
constexpr std::string_view kUsualTokenFile =
    "/var/run/secrets/ack.alibabacloud.com/rrsa-tokens/token";
constexpr int kSessionSeconds = 3600;
constexpr std::chrono::milliseconds kStsTimeout{10'000};
constexpr std::chrono::milliseconds kStsConnectTimeout{5'000};
constexpr std::size_t kStsAnswerLimit = 64U << 10;
constexpr int kStsAttempts = 3;
constexpr auto kStsPause = std::chrono::milliseconds(500);

std::string or_usual(std::string value, std::string_view usual) {
  return value.empty() ? std::string(usual) : std::move(value);
}

// Without a signature, as Alibaba Cloud's SDKs ask: the token is what proves who asks.
net::ClientRequest oidc_request(const std::string& sts_url, const OidcRole& role,
                                const std::string& token) {
  Parameters query;
  query.set("Action", "AssumeRoleWithOIDC").set("Format", "JSON");
  query.set("Version", api_version(Service::Sts));
  Parameters form;
  form.set("RoleArn", role.role_arn).set("OIDCProviderArn", role.provider_arn);
  form.set("OIDCToken", token).set("RoleSessionName", role.session_name);
  form.set("DurationSeconds", kSessionSeconds);
  net::ClientRequest request;
  request.method = "POST";
  request.url = sts_url + "/?" + query.query();
  request.headers.set("Content-Type", "application/x-www-form-urlencoded");
  request.headers.set("Accept", "application/json");
  request.body = form.query();
  request.timeout = kStsTimeout;
  request.connect_timeout = kStsConnectTimeout;
  request.body_limit = kStsAnswerLimit;
  return request;
}

base::Result<Credentials> oidc_answer(const std::string& what, const net::Response& response) {
  if (response.status != 200) {
    return tl::unexpected<base::Error>(read_error(what, response));
  }
  const auto json = model::parse_json(response.body);
  const auto* keys = json ? model::member(*json, "Credentials") : nullptr;
  if (keys == nullptr) {
    return base::fail(ErrorKind::Unavailable, what + ": the answer has no keys");
  }
  return read_keys(*keys, what);
}

base::Task<Found> assumed(CredentialParts parts, OidcRole role, std::string where) {
  auto credentials = co_await assume_role(parts, std::move(role));
  if (!credentials) {
    co_return base::with_context(where, std::move(credentials).error());
  }
  co_return std::optional(*std::move(credentials));
}

Found keys_of_profile(const ConfigProfile& profile, const std::string& where) {
  Credentials credentials{.access_key_id = profile.access_key_id,
                          .secret_access_key = profile.access_key_secret,
                          .session_token = {},
                          .expires_at = {}};
  if (profile.mode == "StsToken") {
    credentials.session_token = profile.sts_token;
  }
  const bool needs_token = profile.mode == "StsToken" && profile.sts_token.empty();
  if (credentials.access_key_id.empty() || credentials.secret_access_key.empty() || needs_token) {
    return base::fail(ErrorKind::Invalid, where + ": mode " + profile.mode +
                                              " needs access_key_id, access_key_secret and, for "
                                              "StsToken, sts_token");
  }
  return std::optional(std::move(credentials));
}

}  // namespace

Found from_environment(const ProcessEnvironment& environment) {
  Credentials credentials;
  credentials.access_key_id = environment.text("ALIBABA_CLOUD_ACCESS_KEY_ID");
  credentials.secret_access_key = environment.text("ALIBABA_CLOUD_ACCESS_KEY_SECRET");
  credentials.session_token = environment.text("ALIBABA_CLOUD_SECURITY_TOKEN");
  if (credentials.access_key_id.empty() && credentials.secret_access_key.empty()) {
    return std::optional<Credentials>();
  }
  if (credentials.access_key_id.empty() || credentials.secret_access_key.empty()) {
    return base::fail(ErrorKind::Invalid,
                      "the environment has only one of ALIBABA_CLOUD_ACCESS_KEY_ID and "
                      "ALIBABA_CLOUD_ACCESS_KEY_SECRET; set both or none");
  }
  return std::optional(std::move(credentials));
}

base::Task<base::Result<Credentials>> assume_role(CredentialParts parts, OidcRole role) {
  const std::string what = "sts AssumeRoleWithOIDC for " + role.role_arn;
  auto read = parts.environment.read_file(role.token_file);
  MW_CO_TRY(text, std::move(read));
  const std::string token(trimmed(text));
  if (token.empty()) {
    co_return base::fail(ErrorKind::Invalid, role.token_file + " holds no OIDC token");
  }
  for (int tried = 1;; ++tried) {
    auto sent = co_await parts.client.send(oidc_request(parts.sts_url, role, token));
    auto answer =
        sent ? oidc_answer(what, *sent)
             : base::Result<Credentials>(base::with_context(what, std::move(sent).error()));
    if (answer || tried == kStsAttempts || !base::is_retryable(answer.error().kind)) {
      co_return answer;
    }
    co_await base::sleep(parts.loop, kStsPause);
  }
}

base::Task<Found> from_oidc(CredentialParts parts) {
  const auto& around = parts.environment;
  OidcRole role;
  role.role_arn = around.text("ALIBABA_CLOUD_ROLE_ARN");
  role.provider_arn = around.text("ALIBABA_CLOUD_OIDC_PROVIDER_ARN");
  if (role.role_arn.empty() || role.provider_arn.empty()) {
    co_return std::optional<Credentials>();
  }
  role.token_file = or_usual(around.text("ALIBABA_CLOUD_OIDC_TOKEN_FILE"), kUsualTokenFile);
  role.session_name = or_usual(around.text("ALIBABA_CLOUD_ROLE_SESSION_NAME"), kSessionName);
  co_return co_await assumed(parts, std::move(role), "ALIBABA_CLOUD_ROLE_ARN");
}

base::Task<Found> from_config_file(CredentialParts parts) {
  if (parts.environment.text("ALIBABA_CLOUD_CLI_PROFILE_DISABLED") == "true") {
    co_return std::optional<Credentials>();
  }
  auto loaded = load_config_profile(parts.environment);
  MW_CO_TRY(given, std::move(loaded));
  if (!given) {
    co_return std::optional<Credentials>();
  }
  const ConfigProfile profile = *given;
  const auto where = "the profile \"" + profile.name + "\" of ~/.aliyun/config.json";
  if (profile.mode == "AK" || profile.mode == "StsToken") {
    co_return keys_of_profile(profile, where);
  }
  if (profile.mode == "EcsRamRole") {
    co_return co_await from_metadata(parts, profile.ram_role_name);
  }
  if (profile.mode == "OIDC") {
    OidcRole role{.role_arn = profile.ram_role_arn,
                  .provider_arn = profile.oidc_provider_arn,
                  .token_file = profile.oidc_token_file,
                  .session_name = std::string(kSessionName)};
    co_return co_await assumed(parts, std::move(role), where);
  }
  co_return base::fail(ErrorKind::Invalid, where + ": mode \"" + profile.mode +
                                               "\" is not supported; use AK, StsToken, OIDC or "
                                               "EcsRamRole");
}

}  // namespace millwright::cloud::alibaba
