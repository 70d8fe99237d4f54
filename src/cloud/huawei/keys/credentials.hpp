// Where keys of Huawei Cloud come from: the environment, a federated identity token (workload
// identity), the profile file of Huawei's SDKs, and the agency of the machine (instance metadata).
// Keys are reused until shortly before they expire.
#pragma once

#include "cloud/common/environment.hpp"
#include "cloud/common/keys/renewed_credentials.hpp"
#include "millwright/base/log.hpp"
#include "millwright/net/client.hpp"

#include <string>

namespace millwright::cloud::huawei {

struct CredentialParts {
  base::Loop& loop;
  net::Client& client;
  ProcessEnvironment environment;
  std::string iam_url;  // "https://iam.cn-north-4.myhuaweicloud.com"
  base::Logger log;
};

// The sources one by one.
Found from_environment(const ProcessEnvironment& environment);
base::Task<Found> from_identity_token(CredentialParts parts);
Found from_profile_file(const ProcessEnvironment& environment);
base::Task<Found> from_agency(CredentialParts parts);

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

// {"credential": {"access", "secret", "securitytoken", "expires_at"}}, as IAM and the metadata
// service answer temporary keys. `what` names the question in errors, which never show the answer.
base::Result<Credentials> parse_temporary_keys(std::string_view body, std::string_view what);

}  // namespace millwright::cloud::huawei
