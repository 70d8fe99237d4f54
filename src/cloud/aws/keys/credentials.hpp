// Where AWS keys come from, in the order of AWS's own SDKs: environment, web identity (IRSA),
// shared files with profiles, the container endpoint (EKS Pod Identity), instance metadata.
// Keys are reused until shortly before they expire.
#pragma once

#include "cloud/aws/calls/api.hpp"
#include "cloud/common/environment.hpp"
#include "cloud/common/keys/renewed_credentials.hpp"

#include <optional>
#include <string>

namespace millwright::cloud::aws {

struct CredentialParts {
  base::Loop& loop;
  net::Client& client;
  ProcessEnvironment environment;
  std::string region;  // for STS
  base::Logger log;
  std::uint64_t seed = 0;
};

// The sources one by one.
Found from_environment(const ProcessEnvironment& environment);
base::Task<Found> from_web_identity(CredentialParts parts);
base::Task<Found> from_shared_files(CredentialParts parts);
base::Task<Found> from_container(CredentialParts parts);
base::Task<Found> from_instance_metadata(CredentialParts parts);

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

// AWS_REGION, AWS_DEFAULT_REGION, the profile's region, then the machine's own. Invalid when none
// of them is set. Only for start-up: asking the machine blocks.
base::Result<std::string> find_region(const CredentialParts& parts);

// STS. AssumeRoleWithWebIdentity needs no keys, AssumeRole those of the caller.
struct AssumedRole {
  std::string role_arn;
  std::string session_name;
  std::string external_id;
  std::string token;  // web identity; empty for AssumeRole
  int duration_seconds = 3600;
};
base::Task<base::Result<Credentials>> assume_role(CredentialParts parts, AssumedRole role,
                                                  std::optional<Credentials> keys);

}  // namespace millwright::cloud::aws
