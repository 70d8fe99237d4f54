// One call to Alibaba Cloud, from typed parameters to an understood answer: endpoint, signature,
// deadline, rate, retries. Knows the two styles of its APIs and none of their operations. Loop
// thread only.
#pragma once

#include "cloud/alibaba/calls/endpoints.hpp"
#include "cloud/alibaba/calls/wire/errors.hpp"
#include "cloud/alibaba/calls/wire/parameters.hpp"
#include "cloud/alibaba/calls/wire/signing.hpp"
#include "cloud/common/calls/retries.hpp"
#include "millwright/base/log.hpp"
#include "millwright/base/random.hpp"
#include "millwright/base/task.hpp"
#include "millwright/net/client.hpp"

#include <boost/json/value.hpp>

#include <cstdint>
#include <functional>
#include <string>

namespace millwright::cloud::alibaba {

struct ApiParts {
  base::Loop& loop;
  net::Client& client;
  const Endpoints& endpoints;
  CredentialSource& credentials;
  base::Logger log;
  std::uint64_t seed = 0;
  // RPC-style calls are signed the older way, for private clouds that do not know the other.
  bool rpc_v1 = false;
};

// A call in ROA style: a path, a query and JSON.
struct RoaCall {
  std::string action;  // for the signature and for people: "DescribeClusterDetail"
  std::string method = "GET";
  std::string path;  // encoded already
  Parameters query;
  std::string body;  // JSON; empty: none
  // The answer may be plain text, which is given as a JSON string.
  bool text_answer = false;
};

class Api {
 public:
  explicit Api(ApiParts parts);

  // RPC style. RegionId is added. Gives the answer, a JSON object.
  base::Task<ApiResult<boost::json::value>> rpc(Service service, std::string action,
                                                Parameters parameters, Patience patience = {});
  // ROA style (CS). Gives any JSON.
  base::Task<ApiResult<boost::json::value>> roa(Service service, RoaCall call,
                                                Patience patience = {});

  // As Provider::set_may_buy(), for calls whose patience says that they buy.
  void set_may_buy(const std::function<bool()>& may_buy) { retries_.set_may_buy(may_buy); }

  const Endpoints& endpoints() const { return parts_.endpoints; }
  base::Loop& loop() const { return parts_.loop; }
  const base::Logger& log() const { return parts_.log; }

 private:
  struct Call {
    Service service = Service::Ecs;
    std::string action;
    net::ClientRequest request;  // unsigned, and of RPC style without its parameters
    bool is_rpc = false;
    Parameters parameters;
    Patience patience;
  };
  base::Task<ApiResult<net::Response>> exchange(Call call);
  base::Task<ApiResult<net::Response>> attempt(Call call);
  void sign_call(Call& call, const Credentials& credentials);

  ApiParts parts_;
  base::Random random_;
  Retries retries_;
};

// An answer with more pages than this is cut off, in case the server's tokens never end.
inline constexpr int kMaxPages = 500;

}  // namespace millwright::cloud::alibaba
