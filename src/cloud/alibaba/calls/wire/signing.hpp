// The two signatures that Alibaba Cloud takes, as its OpenAPI documentation describes them:
// ACS3-HMAC-SHA256 ("V3 request body and signature"), which every API knows, and the older
// HMAC-SHA1 of RPC-style calls ("V2 RPC style"), which private clouds may know alone. Pure: time
// and nonce are arguments.
#pragma once

#include "cloud/alibaba/calls/wire/parameters.hpp"
#include "cloud/common/keys/credentials.hpp"
#include "millwright/base/time.hpp"
#include "millwright/net/client.hpp"

#include <string>
#include <string_view>

namespace millwright::cloud::alibaba {

// An API's action as a signature names it.
struct Operation {
  std::string action;   // "DescribeInstances"
  std::string version;  // of the API: "2014-05-26"
};

// What makes a signature one of a kind: a second request with the same nonce is refused.
struct Stamp {
  base::TimePoint now;
  std::string nonce;
};

// The steps of a signature, which the published vectors name one by one.
struct Acs3Signature {
  std::string canonical_request;
  std::string string_to_sign;
  std::string authorization;
};

// Of the request as it stands: it must carry x-acs-content-sha256. Every header is signed, Host
// included.
Acs3Signature acs3_signature_of(const net::ClientRequest& request, const Credentials& credentials);

// Adds the x-acs- headers and Authorization.
void sign_acs3(net::ClientRequest& request, const Operation& operation,
               const Credentials& credentials, const Stamp& stamp);

struct RpcSignature {
  std::string canonical_query;
  std::string string_to_sign;
  std::string signature;  // base64
};

// Of the parameters as they stand.
RpcSignature rpc_signature_of(std::string_view method, const Parameters& parameters,
                              std::string_view secret_access_key);

// Adds the public parameters and Signature.
void sign_rpc(std::string_view method, Parameters& parameters, const Operation& operation,
              const Credentials& credentials, const Stamp& stamp);

}  // namespace millwright::cloud::alibaba
