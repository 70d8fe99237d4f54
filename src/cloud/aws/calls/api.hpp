// One AWS call, from a typed request to an understood answer: endpoint, signature, deadline, rate,
// retries. Knows AWS's three protocols and none of its operations. Loop thread only.
#pragma once

#include "cloud/aws/calls/endpoints.hpp"
#include "cloud/aws/calls/pace/token_bucket.hpp"
#include "cloud/aws/calls/wire/errors.hpp"
#include "cloud/aws/calls/wire/form.hpp"
#include "cloud/aws/calls/wire/signing.hpp"
#include "cloud/aws/calls/wire/xml.hpp"
#include "millwright/base/log.hpp"
#include "millwright/base/metrics.hpp"
#include "millwright/base/random.hpp"
#include "millwright/base/task.hpp"
#include "millwright/net/client.hpp"

#include <boost/json/value.hpp>

#include <map>
#include <string>

namespace millwright::cloud::aws {

// Where the keys come from; cached and renewed behind this.
class CredentialSource {
 public:
  virtual ~CredentialSource() = default;
  virtual base::Task<base::Result<Credentials>> get() = 0;
  // AWS refused them: the next get() asks for new ones.
  virtual void invalidate() = 0;
};

struct ApiParts {
  base::Loop& loop;
  net::Client& client;
  const Endpoints& endpoints;
  CredentialSource* credentials = nullptr;  // nullptr: calls are not signed
  base::Metrics* metrics = nullptr;
  base::Logger log;
  std::uint64_t seed = 0;
};

// How long each attempt of a call may take, and how many there are.
struct Patience {
  Patience() = default;
  explicit Patience(std::stop_token s) : stop(std::move(s)) {}
  std::chrono::milliseconds timeout{20'000};
  int attempts = 3;  // as the AWS SDKs' standard retry mode
  std::stop_token stop;
};

class Api {
 public:
  explicit Api(ApiParts parts) : parts_(std::move(parts)), random_(parts_.seed) {}

  // AWS Query and EC2 Query: a form in, XML out. Gives the root element.
  base::Task<ApiResult<XmlNode>> query(Service service, Form form, Patience patience = {});
  // JSON 1.0 and 1.1, by X-Amz-Target: `operation` without the service's own prefix.
  base::Task<ApiResult<boost::json::value>> json(Service service, std::string operation,
                                                 boost::json::value body, Patience patience = {});
  // REST-JSON. `path` is encoded already; `operation` is for people.
  base::Task<ApiResult<boost::json::value>> get(Service service, std::string operation,
                                                std::string path, Patience patience = {});

  const Endpoints& endpoints() const { return parts_.endpoints; }
  base::Loop& loop() const { return parts_.loop; }

 private:
  struct Call {
    Service service = Service::Ec2;
    std::string operation;
    net::ClientRequest request;  // unsigned
    Patience patience;
  };
  base::Task<ApiResult<net::Response>> exchange(Call call);
  base::Task<ApiResult<net::Response>> attempt(Call call);
  TokenBucket& bucket_of(const Call& call);
  base::Duration backoff(const ApiError& error, int attempt);
  void count_attempt(const Call& call, int status, base::Duration took);
  void count_request(const Call& call, int status, base::Duration took, int attempts);

  ApiParts parts_;
  base::Random random_;
  std::map<std::string, TokenBucket, std::less<>> buckets_;
};

// An answer with more pages than this is cut off, in case the server's tokens never end.
inline constexpr int kMaxPages = 500;

}  // namespace millwright::cloud::aws
