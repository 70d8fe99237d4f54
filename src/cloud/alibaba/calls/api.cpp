#include "cloud/alibaba/calls/api.hpp"

#include "millwright/model/codec.hpp"

namespace millwright::cloud::alibaba {
namespace {

constexpr std::size_t kAnswerLimit = 64U << 20;
constexpr std::chrono::milliseconds kConnectPatience{5'000};

// Alibaba Cloud publishes no rates that hold for every account; these stay below what accounts get
// by default. DescribePrice is asked once per type, hundreds of times in a row.
Rate rate_of(std::string_view action) {
  if (action == "DescribePrice") {
    return {.per_second = 5, .burst = 5};
  }
  if (action == "CreateAutoProvisioningGroup") {
    return {.per_second = 100, .burst = 100};  // APG_CREATION_QPS's default
  }
  return {.per_second = 15, .burst = 30};
}

std::string call_name(Service service, std::string_view action) {
  return std::string(to_string(service)).append(" ").append(action);
}

}  // namespace

Api::Api(ApiParts parts)
    : parts_(std::move(parts)),
      random_(parts_.seed),
      retries_({.loop = parts_.loop,
                .cloud = "Alibaba Cloud",
                .credentials = &parts_.credentials,
                .log = parts_.log,
                .seed = random_.next()}) {}

base::Task<ApiResult<boost::json::value>> Api::rpc(Service service, std::string action,
                                                   Parameters parameters, Patience patience) {
  if (parameters.get("RegionId").empty()) {
    parameters.set("RegionId", parts_.endpoints.region());
  }
  Call call;
  call.service = service;
  call.action = action;
  call.patience = std::move(patience);
  call.is_rpc = true;
  call.parameters = std::move(parameters);
  call.request.method = "POST";
  call.request.url = parts_.endpoints.of(service) + "/";
  MW_CO_TRY(response, co_await exchange(std::move(call)));
  auto json = model::parse_json(response.body);
  if (!json || !json->is_object()) {
    co_return tl::unexpected(bad_answer(call_name(service, action), "not a JSON object"));
  }
  co_return *std::move(json);
}

base::Task<ApiResult<boost::json::value>> Api::roa(Service service, RoaCall asked,
                                                   Patience patience) {
  Call call;
  call.service = service;
  call.action = asked.action;
  call.patience = std::move(patience);
  call.request.method = asked.method;
  call.request.url = parts_.endpoints.of(service) + asked.path;
  if (!asked.query.all().empty()) {
    call.request.url.append("?").append(asked.query.query());
  }
  if (!asked.body.empty()) {
    call.request.headers.set("Content-Type", "application/json; charset=utf-8");
    call.request.body = std::move(asked.body);
  }
  MW_CO_TRY(response, co_await exchange(std::move(call)));
  auto json = model::parse_json(response.body);
  if (json) {
    co_return *std::move(json);
  }
  if (asked.text_answer) {
    co_return boost::json::value(boost::json::string(response.body));
  }
  co_return tl::unexpected(bad_answer(call_name(service, asked.action), "not JSON"));
}

base::Task<ApiResult<net::Response>> Api::exchange(Call call) {
  RetriedCall retried;
  retried.name = call_name(call.service, call.action);
  retried.rate = rate_of(call.action);
  retried.patience = call.patience;
  retried.attempt = [this, made = std::move(call)] { return attempt(made); };
  co_return co_await retries_.run(std::move(retried));
}

// Each attempt has its own nonce: Alibaba Cloud refuses one that it has seen.
void Api::sign_call(Call& call, const Credentials& credentials) {
  const Operation operation{.action = call.action,
                            .version = std::string(api_version(call.service))};
  const Stamp stamp{.now = parts_.loop.now(), .nonce = random_.uuid()};
  const bool is_v1 = call.is_rpc && parts_.rpc_v1;
  if (is_v1) {
    sign_rpc(call.request.method, call.parameters, operation, credentials, stamp);
  }
  if (call.is_rpc) {
    call.request.url.append("?").append(call.parameters.query());
  }
  if (!is_v1) {
    sign_acs3(call.request, operation, credentials, stamp);
  }
}

base::Task<ApiResult<net::Response>> Api::attempt(Call call) {
  const auto name = call_name(call.service, call.action);
  call.request.timeout = call.patience.timeout;
  call.request.connect_timeout = kConnectPatience;
  call.request.body_limit = kAnswerLimit;
  call.request.headers.set("Accept", "application/json");
  auto credentials = co_await parts_.credentials.get();
  if (!credentials) {
    co_return tl::unexpected(from_transport(name, std::move(credentials).error()));
  }
  sign_call(call, *credentials);
  auto sent = co_await parts_.client.send(std::move(call.request), call.patience.stop);
  if (!sent) {
    co_return tl::unexpected(from_transport(name, std::move(sent).error()));
  }
  if (sent->status < 200 || sent->status > 299) {
    co_return tl::unexpected(read_error(name, *sent));
  }
  co_return *std::move(sent);
}

}  // namespace millwright::cloud::alibaba
