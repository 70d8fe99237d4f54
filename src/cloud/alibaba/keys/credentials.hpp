// Where Alibaba Cloud keys come from, in the order of Alibaba Cloud's own SDKs: environment, OIDC
// (RRSA), the command line tool's file, the RAM role of the machine. Keys are reused until shortly
// before they expire.
#pragma once

#include "cloud/alibaba/calls/api.hpp"
#include "cloud/common/environment.hpp"
#include "cloud/common/keys/renewed_credentials.hpp"

#include <optional>
#include <string>

namespace millwright::cloud::alibaba {

struct CredentialParts {
  base::Loop& loop;
  net::Client& client;
  ProcessEnvironment environment;
  std::string sts_url;  // without a slash at the end
  base::Logger log;
};

// The sources one by one.
Found from_environment(const ProcessEnvironment& environment);
base::Task<Found> from_oidc(CredentialParts parts);
base::Task<Found> from_config_file(CredentialParts parts);
// `role` empty: the one that the machine has.
base::Task<Found> from_metadata(CredentialParts parts, std::string role);

// All of them, in order. A source that is set up but fails ends the search: the next source must
// not silently replace what the user configured.
class CredentialChain final : public CredentialSource {
 public:
  explicit CredentialChain(CredentialParts parts);
  // Denied when no source is set up; the message lists what was looked for.
  base::Task<base::Result<Credentials>> get() override { return renewed_.get(); }
  void invalidate() override { renewed_.invalidate(); }

 private:
  base::Task<base::Result<Credentials>> find() const;

  CredentialParts parts_;
  RenewedCredentials renewed_;
};

// ALIBABA_CLOUD_REGION_ID, ALIBABA_CLOUD_REGION, REGION_ID, the file's region, then the machine's
// own. Invalid when none of them is set. Only for start-up: asking the machine blocks.
base::Result<std::string> find_region(const ProcessEnvironment& environment, net::Client& client);

// STS AssumeRoleWithOIDC, which needs no keys.
struct OidcRole {
  std::string role_arn;
  std::string provider_arn;
  std::string token_file;
  std::string session_name;
};
base::Task<base::Result<Credentials>> assume_role(CredentialParts parts, OidcRole role);

// The keys of an answer in JSON: "AccessKeyId", "AccessKeySecret", "SecurityToken", "Expiration".
// No error shows the answer.
base::Result<Credentials> read_keys(const boost::json::value& json, const std::string& what);

}  // namespace millwright::cloud::alibaba
