#include "cloud/huawei/calls/api.hpp"

#include "cloud/huawei/calls/wire/signing.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

namespace millwright::cloud::huawei {
namespace {

namespace json = boost::json;
using base::ErrorKind;

constexpr std::size_t kAnswerLimit = 64U << 20;
constexpr std::chrono::milliseconds kConnectWithin{5'000};
constexpr std::string_view kProjectMark = "{project}";

// No documented figures: calls of one kind are kept to what a small cluster's bursts need, and an
// answer of "too many" slows them down further.
Rate rate_of(const Call& call) {
  return call.method == "GET" ? Rate{.per_second = 20, .burst = 60}
                              : Rate{.per_second = 10, .burst = 60};
}

std::string name_of(const Call& call) {
  return std::string(to_string(call.service)).append(" ").append(call.operation);
}

}  // namespace

base::Task<ApiResult<json::value>> Api::send(Call call) {
  const auto name = name_of(call);
  net::ClientRequest request;
  request.method = call.method;
  request.headers.set("Content-Type", "application/json;charset=UTF-8");
  if (call.scope == Scope::Project) {
    MW_CO_TRY(id, co_await project());
    if (const auto at = call.path.find(kProjectMark); at != std::string::npos) {
      call.path.replace(at, kProjectMark.size(), id);
    }
    request.headers.set("X-Project-Id", id);
  } else if (call.scope == Scope::Domain) {
    MW_CO_TRY(id, co_await domain());
    request.headers.set("X-Domain-Id", id);
  }
  request.url = parts_.endpoints.of(call.service) + call.path;
  request.timeout = call.patience.timeout;
  request.connect_timeout = kConnectWithin;
  request.body_limit = kAnswerLimit;
  request.fresh_connection = !call.patience.repeatable;
  const auto body = call.body;
  if (body) {
    request.body = json::serialize(*body);
  }
  RetriedCall retried;
  retried.name = name;
  retried.rate = rate_of(call);
  retried.patience = call.patience;
  retried.attempt = [this, request = std::move(request), name, stop = call.patience.stop] {
    return attempt(request, name, stop);
  };
  MW_CO_TRY(response, co_await retries_.run(std::move(retried)));
  if (response.body.empty()) {
    co_return json::value();
  }
  auto answer = model::parse_json(response.body);
  if (!answer || !answer->is_object()) {
    co_return tl::unexpected(bad_answer(name, response, "not a JSON object"));
  }
  co_return *std::move(answer);
}

base::Task<ApiResult<net::Response>> Api::attempt(net::ClientRequest request, std::string name,
                                                  std::stop_token stop) {
  if (parts_.credentials != nullptr) {
    auto credentials = co_await parts_.credentials->get();
    if (!credentials) {
      co_return tl::unexpected(from_transport(name, std::move(credentials).error()));
    }
    sign(request, *credentials, parts_.loop.now());
  }
  auto sent = co_await parts_.client.send(std::move(request), std::move(stop));
  if (!sent) {
    co_return tl::unexpected(from_transport(name, std::move(sent).error()));
  }
  if (sent->status < 200 || sent->status > 299) {
    co_return tl::unexpected(read_error(name, *sent));
  }
  co_return *std::move(sent);
}

base::Task<ApiResult<std::string>> Api::only_id(Call call, std::string list) {
  const auto name = name_of(call);
  MW_CO_TRY(answer, co_await send(std::move(call)));
  std::vector<std::string> ids;
  const auto* found = model::member(answer, list);
  if (found != nullptr && found->is_array()) {
    for (const auto& each : found->get_array()) {
      ids.emplace_back(model::as_text(model::member(each, "id")));
    }
  }
  if (ids.size() != 1 || ids.front().empty()) {
    ApiError error;
    error.kind = ErrorKind::Invalid;
    error.message = name + ": expected one entry of " + list + ", found " +
                    std::to_string(ids.size()) +
                    "; check the region, and that the keys belong to one account";
    co_return tl::unexpected(std::move(error));
  }
  co_return ids.front();
}

base::Task<ApiResult<std::string>> Api::project() {
  if (project_.empty()) {
    Call call;
    call.service = Service::Iam;
    call.operation = "list projects";
    call.path = "/v3/projects?name=" + net::url_encode(parts_.endpoints.region());
    call.scope = Scope::None;
    MW_CO_TRY(id, co_await only_id(std::move(call), "projects"));
    project_ = id;
  }
  co_return project_;
}

base::Task<ApiResult<std::string>> Api::domain() {
  if (domain_.empty()) {
    Call call;
    call.service = Service::Iam;
    call.operation = "list domains";
    call.path = "/v3/auth/domains";
    call.scope = Scope::None;
    MW_CO_TRY(id, co_await only_id(std::move(call), "domains"));
    domain_ = id;
  }
  co_return domain_;
}

}  // namespace millwright::cloud::huawei
