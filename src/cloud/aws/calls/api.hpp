// One AWS call, from a typed request to an understood answer: endpoint, signature, deadline, rate,
// retries. Knows AWS's three protocols and none of its operations. Loop thread only.
#pragma once

#include "cloud/aws/calls/endpoints.hpp"
#include "cloud/aws/calls/wire/errors.hpp"
#include "cloud/aws/calls/wire/form.hpp"
#include "cloud/aws/calls/wire/signing.hpp"
#include "cloud/aws/calls/wire/xml.hpp"
#include "cloud/common/calls/retries.hpp"
#include "millwright/base/log.hpp"
#include "millwright/base/metrics.hpp"
#include "millwright/base/task.hpp"
#include "millwright/net/client.hpp"

#include <boost/json/value.hpp>

#include <functional>
#include <string>

namespace millwright::cloud::aws {

struct ApiParts {
  base::Loop& loop;
  net::Client& client;
  const Endpoints& endpoints;
  CredentialSource* credentials = nullptr;  // nullptr: calls are not signed
  base::Metrics* metrics = nullptr;
  base::Logger log;
  std::uint64_t seed = 0;
};

class Api {
 public:
  explicit Api(ApiParts parts)
      : parts_(std::move(parts)),
        retries_({.loop = parts_.loop,
                  .cloud = "AWS",
                  .credentials = parts_.credentials,
                  .log = parts_.log,
                  .seed = parts_.seed}) {}

  // AWS Query and EC2 Query: a form in, XML out. Gives the root element.
  base::Task<ApiResult<XmlNode>> query(Service service, Form form, Patience patience = {});
  // JSON 1.0 and 1.1, by X-Amz-Target: `operation` without the service's own prefix.
  base::Task<ApiResult<boost::json::value>> json(Service service, std::string operation,
                                                 boost::json::value body, Patience patience = {});
  // REST-JSON. `path` is encoded already; `operation` is for people.
  base::Task<ApiResult<boost::json::value>> get(Service service, std::string operation,
                                                std::string path, Patience patience = {});

  // As Provider::set_may_buy(), for calls whose patience says that they buy.
  void set_may_buy(const std::function<bool()>& may_buy) { retries_.set_may_buy(may_buy); }

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
  void count(const base::MetricLabels& labels, const Attempted& attempted);

  ApiParts parts_;
  Retries retries_;
};

// An answer with more pages than this is cut off, in case the server's tokens never end.
inline constexpr int kMaxPages = 500;

}  // namespace millwright::cloud::aws
