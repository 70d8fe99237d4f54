#include "cloud/common/text/ini.hpp"
#include "cloud/huawei/keys/credentials.hpp"
#include "millwright/model/codec.hpp"

namespace millwright::cloud::huawei {
namespace {

using base::ErrorKind;

std::string setting(const IniSection& section, std::string_view key) {
  const auto found = section.find(key);
  return found == section.end() ? std::string() : found->second;
}

}  // namespace

CredentialChain::CredentialChain(CredentialParts parts)
    : parts_(std::move(parts)),
      renewed_({.loop = parts_.loop,
                .cloud = "Huawei Cloud",
                .find = [this] { return find(); },
                .log = parts_.log}) {}

base::Task<base::Result<Credentials>> CredentialChain::find() const {
  Found found = from_environment(parts_.environment);
  if (found && !*found) {
    found = co_await from_identity_token(parts_);
  }
  if (found && !*found) {
    found = from_profile_file(parts_.environment);
  }
  if (found && !*found) {
    found = co_await from_agency(parts_);
  }
  if (!found) {
    co_return base::with_context("Huawei Cloud credentials", std::move(found).error());
  }
  auto keys = *std::move(found);
  if (!keys) {
    co_return base::fail(ErrorKind::Denied,
                         "no Huawei Cloud credentials: looked for HUAWEICLOUD_SDK_AK, "
                         "HUAWEICLOUD_SDK_ID_TOKEN_FILE, ~/.huaweicloud/credentials and an agency "
                         "of this machine");
  }
  co_return *std::move(keys);
}

Found from_environment(const ProcessEnvironment& environment) {
  Credentials credentials;
  credentials.access_key_id = environment.text("HUAWEICLOUD_SDK_AK");
  credentials.secret_access_key = environment.text("HUAWEICLOUD_SDK_SK");
  credentials.session_token = environment.text("HUAWEICLOUD_SDK_SECURITY_TOKEN");
  if (credentials.access_key_id.empty() && credentials.secret_access_key.empty()) {
    return std::optional<Credentials>();
  }
  if (credentials.access_key_id.empty() || credentials.secret_access_key.empty()) {
    return base::fail(ErrorKind::Invalid,
                      "the environment has only one of HUAWEICLOUD_SDK_AK and HUAWEICLOUD_SDK_SK; "
                      "set both or none");
  }
  return credentials;
}

Found from_profile_file(const ProcessEnvironment& environment) {
  auto path = environment.text("HUAWEICLOUD_SDK_CREDENTIALS_FILE");
  const bool is_named = !path.empty();
  if (!is_named) {
    path = environment.text("HOME") + "/.huaweicloud/credentials";
  }
  auto text = environment.read_file(path);
  if (!text) {
    if (!is_named && text.error().kind == ErrorKind::NotFound) {
      return std::optional<Credentials>();
    }
    return tl::unexpected(std::move(text).error());
  }
  MW_TRY(sections, parse_ini(*text, path));
  const auto basic = sections.find("basic");
  if (basic == sections.end()) {
    return base::fail(ErrorKind::Invalid, path + ": expected a section [basic] with ak and sk");
  }
  Credentials credentials;
  credentials.access_key_id = setting(basic->second, "ak");
  credentials.secret_access_key = setting(basic->second, "sk");
  credentials.session_token = setting(basic->second, "security_token");
  if (credentials.access_key_id.empty() || credentials.secret_access_key.empty()) {
    return base::fail(ErrorKind::Invalid, path + ": [basic] needs both ak and sk");
  }
  return credentials;
}

base::Result<Credentials> parse_temporary_keys(std::string_view body, std::string_view what) {
  const std::string name(what);
  const auto json = model::parse_json(body);
  if (!json || !json->is_object()) {
    return base::fail(ErrorKind::Unavailable, name + ": the answer is not a JSON object");
  }
  Credentials credentials;
  credentials.access_key_id = model::text_at(*json, "credential.access");
  credentials.secret_access_key = model::text_at(*json, "credential.secret");
  credentials.session_token = model::text_at(*json, "credential.securitytoken");
  credentials.expires_at = base::parse_rfc3339(model::text_at(*json, "credential.expires_at"));
  if (credentials.access_key_id.empty() || credentials.secret_access_key.empty() ||
      credentials.session_token.empty() || !credentials.expires_at) {
    return base::fail(ErrorKind::Unavailable,
                      name + ": the answer has no complete temporary keys with their end");
  }
  return credentials;
}

}  // namespace millwright::cloud::huawei
