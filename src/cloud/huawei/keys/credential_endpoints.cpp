// Temporary keys: of the machine's agency, from instance metadata, and for an identity token, from
// IAM.
#include "cloud/common/keys/local_endpoint.hpp"
#include "cloud/common/text/text.hpp"
#include "cloud/huawei/keys/credentials.hpp"

#include <boost/json.hpp>

namespace millwright::cloud::huawei {
namespace {

namespace json = boost::json;
using base::ErrorKind;

constexpr std::string_view kMetadata = "http://169.254.169.254";
constexpr std::chrono::milliseconds kIamTimeout{20'000};
constexpr int kTokenSeconds = 3600;

// IAM's answers are keys: no error shows any of them.
base::Task<base::Result<net::Response>> ask_iam(CredentialParts parts, net::ClientRequest request,
                                                std::string what) {
  request.method = "POST";
  request.timeout = kIamTimeout;
  request.headers.set("Content-Type", "application/json;charset=UTF-8");
  auto sent = co_await parts.client.send(std::move(request));
  if (!sent) {
    co_return base::with_context(what, std::move(sent).error());
  }
  if (sent->status < 200 || sent->status > 299) {
    const auto kind = sent->status >= 500 ? ErrorKind::Unavailable : ErrorKind::Denied;
    co_return base::fail(kind, what + ": HTTP " + std::to_string(sent->status));
  }
  co_return *std::move(sent);
}

json::value token_request(const std::string& id_token, const std::string& project) {
  json::object auth{{"id_token", {{"id", id_token}}}};
  if (!project.empty()) {
    auth["scope"] = {{"project", {{"id", project}}}};
  }
  return {{"auth", std::move(auth)}};
}

json::value keys_request(const std::string& token) {
  return {{"auth",
           {{"identity",
             {{"methods", json::array{"token"}},
              {"token", {{"id", token}, {"duration_seconds", kTokenSeconds}}}}}}}};
}

}  // namespace

base::Task<Found> from_identity_token(CredentialParts parts) {
  const auto& around = parts.environment;
  const auto file = around.text("HUAWEICLOUD_SDK_ID_TOKEN_FILE");
  const auto provider = around.text("HUAWEICLOUD_SDK_IDP_ID");
  if (file.empty()) {
    co_return std::optional<Credentials>();
  }
  if (provider.empty()) {
    co_return base::fail(ErrorKind::Invalid,
                         "HUAWEICLOUD_SDK_ID_TOKEN_FILE is set, but HUAWEICLOUD_SDK_IDP_ID is not; "
                         "it names the identity provider in IAM");
  }
  auto read = around.read_file(file);
  if (!read) {
    co_return base::with_context("HUAWEICLOUD_SDK_ID_TOKEN_FILE", std::move(read).error());
  }
  const std::string id_token(trimmed(*read));
  if (id_token.empty()) {
    co_return base::fail(ErrorKind::Invalid, file + " holds no identity token");
  }
  net::ClientRequest login;
  login.url = parts.iam_url + "/v3.0/OS-AUTH/id-token/tokens";
  login.headers.set("X-Idp-Id", provider);
  login.body = json::serialize(token_request(id_token, around.text("HUAWEICLOUD_SDK_PROJECT_ID")));
  const std::string what = "IAM token for the identity token";
  MW_CO_TRY(answered, co_await ask_iam(parts, std::move(login), what));
  const std::string token(answered.headers.get("X-Subject-Token"));
  if (token.empty()) {
    co_return base::fail(ErrorKind::Unavailable, what + ": the answer has no X-Subject-Token");
  }
  net::ClientRequest exchange;
  exchange.url = parts.iam_url + "/v3.0/OS-CREDENTIAL/securitytokens";
  exchange.headers.set("X-Auth-Token", token);
  exchange.body = json::serialize(keys_request(token));
  const std::string keys_what = "IAM keys for the identity token";
  MW_CO_TRY(response, co_await ask_iam(parts, std::move(exchange), keys_what));
  auto keys = parse_temporary_keys(response.body, keys_what);
  MW_CO_TRY(credentials, std::move(keys));
  co_return std::optional(std::move(credentials));
}

base::Task<Found> from_agency(CredentialParts parts) {
  auto asking = local_request(std::string(kMetadata) + "/meta-data/latest/api/token", "PUT");
  asking.headers.set("X-Metadata-Token-Ttl-Seconds", "21600");
  LocalQuestion token_question{.loop = parts.loop,
                               .client = parts.client,
                               .request = std::move(asking),
                               .what = "instance metadata token"};
  auto token = co_await ask_locally(std::move(token_question));
  auto request = local_request(std::string(kMetadata) + "/openstack/latest/securitykey");
  if (token) {
    request.headers.set("X-Metadata-Token", *token);  // else the machine knows version 1 alone
  }
  const std::string what = "keys of the machine's agency";
  LocalQuestion question{
      .loop = parts.loop, .client = parts.client, .request = std::move(request), .what = what};
  auto answered = co_await ask_locally(std::move(question));
  if (!answered) {
    // No machine of Huawei Cloud's, one without an agency, or a pod that cannot reach the address.
    parts.log.debug("no keys from instance metadata", {{"error", answered.error().message}});
    co_return std::optional<Credentials>();
  }
  auto keys = parse_temporary_keys(*answered, what);
  MW_CO_TRY(credentials, std::move(keys));
  co_return std::optional(std::move(credentials));
}

}  // namespace millwright::cloud::huawei
