// Keys by assuming a role: AssumeRole and AssumeRoleWithWebIdentity.
#include "cloud/aws/keys/credentials.hpp"

namespace millwright::cloud::aws {
namespace {

using base::ErrorKind;

class TheseKeys final : public CredentialSource {
 public:
  explicit TheseKeys(Credentials keys) : keys_(std::move(keys)) {}
  base::Task<base::Result<Credentials>> get() override { co_return keys_; }
  void invalidate() override {}

 private:
  Credentials keys_;
};

Form form_of(const AssumedRole& role) {
  Form form(role.token.empty() ? "AssumeRole" : "AssumeRoleWithWebIdentity", "2011-06-15");
  form.add("RoleArn", role.role_arn).add("RoleSessionName", role.session_name);
  if (!role.token.empty()) {
    form.add("WebIdentityToken", role.token);
  }
  if (!role.external_id.empty()) {
    form.add("ExternalId", role.external_id);
  }
  form.add("DurationSeconds", role.duration_seconds);
  return form;
}

base::Result<Credentials> read_answer(const XmlNode& root, const AssumedRole& role) {
  const auto& result =
      root.child(role.token.empty() ? "AssumeRoleResult" : "AssumeRoleWithWebIdentityResult");
  const auto& keys = result.child("Credentials");
  Credentials credentials;
  credentials.access_key_id = keys.text_of("AccessKeyId");
  credentials.secret_access_key = keys.text_of("SecretAccessKey");
  credentials.session_token = keys.text_of("SessionToken");
  credentials.expires_at = base::parse_rfc3339(keys.text_of("Expiration"));
  if (credentials.access_key_id.empty() || credentials.secret_access_key.empty() ||
      !credentials.expires_at) {
    return base::fail(ErrorKind::Unavailable,
                      "STS answered without complete credentials for " + role.role_arn);
  }
  return credentials;
}

}  // namespace

base::Task<base::Result<Credentials>> assume_role(CredentialParts parts, AssumedRole role,
                                                  std::optional<Credentials> keys) {
  auto made = Endpoints::make(parts.region, parts.environment);
  MW_CO_TRY(endpoints, std::move(made));
  std::optional<TheseKeys> source;
  if (keys) {
    source.emplace(*std::move(keys));
  }
  Api api({.loop = parts.loop,
           .client = parts.client,
           .endpoints = endpoints,
           .credentials = source ? &*source : nullptr,
           .metrics = nullptr,
           .log = parts.log,
           .seed = parts.seed});
  Form form = form_of(role);
  auto answered = co_await api.query(Service::Sts, std::move(form));
  if (!answered) {
    co_return base::with_context("assuming the role " + role.role_arn, std::move(answered).error());
  }
  co_return read_answer(*answered, role);
}

}  // namespace millwright::cloud::aws
