// One call of Huawei Cloud, from a method and a path to an understood answer: endpoint, project,
// signature, deadline, rate, retries. Knows none of the operations. Loop thread only.
#pragma once

#include "cloud/common/calls/retries.hpp"
#include "cloud/huawei/calls/endpoints.hpp"
#include "cloud/huawei/calls/wire/errors.hpp"
#include "millwright/base/log.hpp"
#include "millwright/net/client.hpp"

#include <boost/json/value.hpp>

#include <functional>
#include <optional>
#include <string>

namespace millwright::cloud::huawei {

struct ApiParts {
  base::Loop& loop;
  net::Client& client;
  const Endpoints& endpoints;
  CredentialSource* credentials = nullptr;
  std::string project = {};  // its id, where it is known; else IAM tells that of the region
  base::Logger log;
  std::uint64_t seed = 0;
};

// Whom a call concerns: a project of one region, or the whole account (a domain, in Huawei's
// words).
enum class Scope : std::uint8_t { None, Project, Domain };

struct Call {
  Service service = Service::Cce;
  std::string operation;  // for people, with the service: "create node"
  std::string method = "GET";
  std::string path;  // with the query; "{project}" stands for the id of the project
  std::optional<boost::json::value> body = {};
  Scope scope = Scope::Project;
  Patience patience = {};
};

class Api {
 public:
  explicit Api(ApiParts parts)
      : parts_(std::move(parts)),
        retries_({.loop = parts_.loop,
                  .cloud = "Huawei Cloud",
                  .credentials = parts_.credentials,
                  .log = parts_.log,
                  .seed = parts_.seed}),
        project_(parts_.project) {}

  // An answer of 2xx is a JSON object, or is empty and then null.
  base::Task<ApiResult<boost::json::value>> send(Call call);

  // The ids that IAM tells, asked once. Invalid when there is none for the region, or several.
  base::Task<ApiResult<std::string>> project();
  base::Task<ApiResult<std::string>> domain();

  // As Provider::set_may_buy(), for calls whose patience says that they buy.
  void set_may_buy(const std::function<bool()>& may_buy) { retries_.set_may_buy(may_buy); }

  const Endpoints& endpoints() const { return parts_.endpoints; }
  base::Loop& loop() const { return parts_.loop; }

 private:
  base::Task<ApiResult<std::string>> only_id(Call call, std::string list);
  base::Task<ApiResult<net::Response>> attempt(net::ClientRequest request, std::string name,
                                               std::stop_token stop);

  ApiParts parts_;
  Retries retries_;
  std::string project_;
  std::string domain_;
};

// An answer with more pages than this is cut off, in case the server's markers never end.
inline constexpr int kMaxPages = 200;

}  // namespace millwright::cloud::huawei
