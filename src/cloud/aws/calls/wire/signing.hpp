// AWS Signature Version 4, as the page "Create a signed AWS API request" of the IAM user guide
// describes it. Every service that Millwright calls accepts it. Pure: the time is an argument.
#pragma once

#include "cloud/common/keys/credentials.hpp"
#include "millwright/base/time.hpp"
#include "millwright/net/client.hpp"

#include <string>

namespace millwright::cloud::aws {

struct SigningScope {
  std::string service;  // signing name: "ec2"
  std::string region;
};

// The steps of a signature, which the published vectors name one by one.
struct Signature {
  std::string canonical_request;
  std::string string_to_sign;
  std::string authorization;
};

// Of the request as it stands: it must carry X-Amz-Date. Every header is signed, Host included.
Signature signature_of(const net::ClientRequest& request, const SigningScope& scope,
                       const Credentials& credentials);

// Adds X-Amz-Date, X-Amz-Security-Token (when there is a token) and Authorization.
void sign(net::ClientRequest& request, const SigningScope& scope, const Credentials& credentials,
          base::TimePoint now);

}  // namespace millwright::cloud::aws
