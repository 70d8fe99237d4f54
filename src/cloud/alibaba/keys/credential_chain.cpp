#include "cloud/alibaba/keys/credentials.hpp"
#include "millwright/model/json_fields.hpp"

namespace millwright::cloud::alibaba {

CredentialChain::CredentialChain(CredentialParts parts)
    : parts_(std::move(parts)),
      renewed_({.loop = parts_.loop,
                .cloud = "Alibaba Cloud",
                .find = [this] { return find(); },
                .log = parts_.log}) {}

base::Task<base::Result<Credentials>> CredentialChain::find() const {
  Found found = from_environment(parts_.environment);
  if (found && !*found) {
    found = co_await from_oidc(parts_);
  }
  if (found && !*found) {
    found = co_await from_config_file(parts_);
  }
  if (found && !*found) {
    auto role = parts_.environment.text("ALIBABA_CLOUD_ECS_METADATA");
    found = co_await from_metadata(parts_, std::move(role));
  }
  if (!found) {
    co_return base::with_context("Alibaba Cloud credentials", std::move(found).error());
  }
  const auto credentials = *std::move(found);
  if (!credentials) {
    co_return base::fail(base::ErrorKind::Denied,
                         "no Alibaba Cloud credentials: looked for ALIBABA_CLOUD_ACCESS_KEY_ID, "
                         "ALIBABA_CLOUD_ROLE_ARN with ALIBABA_CLOUD_OIDC_TOKEN_FILE, a profile in "
                         "~/.aliyun/config.json and a RAM role of the machine");
  }
  co_return *credentials;
}

base::Result<Credentials> read_keys(const boost::json::value& json, const std::string& what) {
  if (const auto code = model::text_at(json, "Code"); !code.empty() && code != "Success") {
    return base::fail(base::ErrorKind::Denied, what + ": " + std::string(code.substr(0, 100)));
  }
  Credentials credentials;
  credentials.access_key_id = model::text_at(json, "AccessKeyId");
  credentials.secret_access_key = model::text_at(json, "AccessKeySecret");
  credentials.session_token = model::text_at(json, "SecurityToken");
  credentials.expires_at = base::parse_rfc3339(model::text_at(json, "Expiration"));
  if (credentials.access_key_id.empty() || credentials.secret_access_key.empty() ||
      credentials.session_token.empty() || !credentials.expires_at) {
    return base::fail(base::ErrorKind::Unavailable, what + ": the answer has no complete keys");
  }
  return credentials;
}

}  // namespace millwright::cloud::alibaba
