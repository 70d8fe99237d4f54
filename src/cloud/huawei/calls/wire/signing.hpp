// Huawei Cloud's request signature SDK-HMAC-SHA256, as the page "AK/SK Signing and Authentication"
// of its API Gateway guide describes it and as its own SDKs make it. Every service that Millwright
// calls accepts it. Pure: the time is an argument.
#pragma once

#include "cloud/common/keys/credentials.hpp"
#include "millwright/base/time.hpp"
#include "millwright/net/client.hpp"

#include <string>

namespace millwright::cloud::huawei {

// The steps of a signature, which the vectors name one by one.
struct Signature {
  std::string canonical_request;
  std::string string_to_sign;
  std::string authorization;
};

// Of the request as it stands: it must carry X-Sdk-Date. Host is signed, and every header whose
// name has no underscore.
Signature signature_of(const net::ClientRequest& request, const Credentials& credentials);

// Adds X-Sdk-Date, X-Security-Token (when there is a token), X-Sdk-Content-Sha256 (for a body that
// is no JSON, which is then not part of the signature) and Authorization.
void sign(net::ClientRequest& request, const Credentials& credentials, base::TimePoint now);

}  // namespace millwright::cloud::huawei
