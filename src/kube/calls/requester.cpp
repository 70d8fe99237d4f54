#include "kube/calls/requester.hpp"

#include "kube/calls/status.hpp"
#include "millwright/model/codec.hpp"

#include <algorithm>
#include <utility>

namespace millwright::kube {
namespace {

using base::ErrorKind;

constexpr std::chrono::milliseconds kMinRetryDelay{100};
constexpr std::chrono::milliseconds kMaxRetryDelay{5'000};
// A server that asks for more patience than this is left to the caller.
constexpr std::chrono::milliseconds kMaxRetryAfter{30'000};

// Of the rate of all calls. At the default, 200 a second, evictions have Karpenter's 100.
constexpr double kEvictionShare = 0.5;
// Half of the requests that one transport sends at once (net's Multi).
constexpr std::size_t kEvictionsAtOnce = 64;

bool may_retry(const Call& call, const ApiFailure& failure) {
  switch (failure.error.kind) {
    case ErrorKind::Throttled:
      return !failure.disruption_budget && failure.error.retry_after <= kMaxRetryAfter;
    case ErrorKind::Unavailable:
    case ErrorKind::Timeout:
      return call.request.method == "GET" && failure.error.retry_after <= kMaxRetryAfter;
    default:
      return false;
  }
}

base::Result<boost::json::value> read_body(const Call& call, const net::Response& response) {
  if (response.body.empty()) {
    return boost::json::value();
  }
  auto parsed = model::parse_json(response.body);
  if (!parsed) {
    return base::fail(ErrorKind::Unavailable,
                      call.what + ": the API server's answer is not JSON: " +
                          parsed.error().message + "; check what stands between us and it");
  }
  return parsed;
}

}  // namespace

Requester::Requester(base::Loop& loop, std::shared_ptr<Transport> transport, ClientOptions options,
                     base::Metrics* metrics)
    : loop_(loop),
      transport_(std::move(transport)),
      options_(std::move(options)),
      metrics_(metrics),
      random_(options_.seed),
      bucket_(options_.qps, options_.burst),
      evictions_(options_.qps * kEvictionShare, options_.burst * kEvictionShare),
      eviction_places_(std::make_shared<Places>(loop, kEvictionsAtOnce)) {}

base::Task<bool> Requester::wait_for_turn(Lane lane, Places::Place* place, std::stop_token stop) {
  if (lane == Lane::Evictions) {
    // First, although it is held while the rate is waited for: that keeps nothing waiting which the
    // rate would let go. Taken last, all that wait while a webhook hangs would take half of the
    // rate for nothing, and be sent without any once it answers again.
    *place = co_await eviction_places_->take(stop);
    if (*place == nullptr) {
      co_return false;
    }
    const bool first_in_lane = co_await wait_for_token(&evictions_, stop);
    if (!first_in_lane) {
      co_return false;
    }
  }
  const bool admitted = co_await wait_for_token(&bucket_, stop);
  if (!admitted && lane == Lane::Evictions) {
    evictions_.give_back();
  }
  co_return admitted;
}

base::Task<bool> Requester::wait_for_token(TokenBucket* bucket, std::stop_token stop) {
  if (stop.stop_requested()) {
    co_return false;
  }
  const auto delay = bucket->take(loop_.now());
  if (delay == base::Duration::zero()) {
    co_return true;
  }
  const bool waited = co_await base::sleep(loop_, delay, stop);
  if (!waited) {
    bucket->give_back();
  }
  co_return waited;
}

base::Task<base::Result<net::Response>> Requester::send_once(ApiRequest request, std::string what,
                                                             std::stop_token stop) {
  Deadline deadline(loop_, stop, request.timeout);
  auto answer = co_await transport_->call(std::move(request), deadline.token());
  if (answer) {
    co_return answer;
  }
  if (answer.error().kind == ErrorKind::Cancelled && deadline.passed() && !stop.stop_requested()) {
    co_return base::fail(ErrorKind::Timeout, what + ": no answer from the API server in time");
  }
  co_return base::with_context(what, std::move(answer).error());
}

base::Task<base::Result<boost::json::value>> Requester::run(Call call, std::stop_token stop) {
  call.request.timeout = options_.timeout;
  Backoff backoff(kMinRetryDelay, kMaxRetryDelay);
  for (int attempt = 1;; ++attempt) {
    Places::Place place;
    const bool admitted = co_await wait_for_turn(call.lane, &place, stop);
    if (!admitted) {
      co_return base::fail(ErrorKind::Cancelled, call.what + ": stopped");
    }
    const auto begun = loop_.now();
    if (call.late_body) {
      call.request.body = call.late_body(begun);
    }
    auto answer = co_await send_once(call.request, call.what, stop);
    place.reset();  // whoever waits to try again holds up nobody
    record(call, answer, loop_.now() - begun);
    ApiFailure failure;
    if (!answer) {
      failure.error = std::move(answer).error();
    } else if (answer->status >= 200 && answer->status < 300) {
      co_return read_body(call, *answer);
    } else {
      failure = read_failure(*answer, call.what);
    }
    if (attempt >= options_.attempts || !may_retry(call, failure)) {
      co_return tl::unexpected(std::move(failure.error));
    }
    const auto delay = std::max<base::Duration>(backoff.next(random_), failure.error.retry_after);
    const bool waited = co_await base::sleep(loop_, delay, stop);
    if (!waited) {
      co_return tl::unexpected(std::move(failure.error));
    }
  }
}

void Requester::record(const Call& call, const base::Result<net::Response>& answer,
                       base::Duration took) {
  if (metrics_ == nullptr) {
    return;
  }
  metrics_->count("client_go_request_total",
                  "Requests to the Kubernetes API by HTTP status and method.",
                  {{"code", answer ? std::to_string(answer->status) : "<error>"},
                   {"method", call.request.method}});
  metrics_->observe("client_go_request_duration_seconds",
                    "How long requests to the Kubernetes API took.",
                    {{"verb", call.verb},
                     {"group", std::string(call.resource.group)},
                     {"version", std::string(call.resource.version)},
                     {"kind", std::string(call.resource.kind)},
                     {"subresource", call.subresource}},
                    std::chrono::duration<double>(took).count(),
                    {0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60});
}

}  // namespace millwright::kube
