#include "cloud/aws/calls/api.hpp"

#include "millwright/model/codec.hpp"

#include <boost/json/serialize.hpp>

#include <algorithm>
#include <cmath>

namespace millwright::cloud::aws {
namespace {

using base::ErrorKind;

constexpr std::size_t kBodyLimit = 128U << 20;
constexpr std::chrono::milliseconds kConnectTimeout{5'000};
constexpr auto kLongestBackoff = std::chrono::seconds(20);

struct JsonDialect {
  std::string_view target_prefix;
  std::string_view content_type;
};

JsonDialect dialect_of(Service service) {
  switch (service) {
    case Service::Ssm:
      return {"AmazonSSM.", "application/x-amz-json-1.1"};
    case Service::Sqs:
      return {"AmazonSQS.", "application/x-amz-json-1.0"};
    default:
      return {"AWSPriceListService.", "application/x-amz-json-1.1"};
  }
}

// EC2 gives each account and region a bucket per action: reads refill faster than changes.
Rate rate_of(Service service, std::string_view operation) {
  if (service == Service::Iam) {
    return {.per_second = 5, .burst = 15};
  }
  if (service != Service::Ec2) {
    return {.per_second = 20, .burst = 40};
  }
  const bool reads = operation.starts_with("Describe");
  return reads ? Rate{.per_second = 20, .burst = 100} : Rate{.per_second = 10, .burst = 100};
}

// As AWS's own SDKs call it, which is what their metrics show.
std::string_view sdk_name(Service service) {
  switch (service) {
    case Service::Ec2:
      return "EC2";
    case Service::Iam:
      return "IAM";
    case Service::Sts:
      return "STS";
    case Service::Ssm:
      return "SSM";
    case Service::Sqs:
      return "SQS";
    case Service::Pricing:
      return "Pricing";
    case Service::Eks:
      return "EKS";
    case Service::ArcZonalShift:
      return "ARC Zonal Shift";
  }
  return "";
}

base::MetricLabels labels_of(Service service, const std::string& operation, int status) {
  return {{"service", std::string(sdk_name(service))},
          {"action", operation},
          {"code", std::to_string(status)}};
}

// From 10 ms, each half as much again, as aws-sdk-go-prometheus has them.
const std::vector<double>& duration_buckets() {
  static const std::vector<double> kBuckets = [] {
    std::vector<double> bounds{0.01};
    while (bounds.size() < 20) {
      bounds.push_back(bounds.back() * 1.5);
    }
    return bounds;
  }();
  return kBuckets;
}

double seconds(base::Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

bool is_worth_retrying(const ApiError& error) {
  return error.kind == ErrorKind::Throttled || error.kind == ErrorKind::Unavailable ||
         error.kind == ErrorKind::Timeout || is_credential_problem(error.code);
}

ApiError from_transport(std::string_view call, base::Error error) {
  ApiError result;
  result.kind = error.kind;
  result.message = std::string(call).append(": ").append(error.message);
  return result;
}

ApiResult<boost::json::value> understand_json(std::string_view call,
                                              const net::Response& response) {
  auto json = model::parse_json(response.body);
  if (!json || !json->is_object()) {
    return tl::unexpected(bad_answer(call, response, "not a JSON object"));
  }
  return *std::move(json);
}

std::string name_of(Service service, std::string_view operation) {
  return std::string(to_string(service)).append(" ").append(operation);
}

}  // namespace

base::Task<ApiResult<XmlNode>> Api::query(Service service, Form form, Patience patience) {
  Call call;
  call.service = service;
  call.operation = form.action();
  call.patience = std::move(patience);
  call.request.method = "POST";
  call.request.url = parts_.endpoints.of(service).url + "/";
  call.request.headers.set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8");
  call.request.body = form.body();
  MW_CO_TRY(response, co_await exchange(std::move(call)));
  auto root = parse_xml(response.body);
  if (!root) {
    co_return tl::unexpected(
        bad_answer(name_of(service, form.action()), response, root.error().message));
  }
  co_return *std::move(root);
}

base::Task<ApiResult<boost::json::value>> Api::json(Service service, std::string operation,
                                                    boost::json::value body, Patience patience) {
  const auto dialect = dialect_of(service);
  Call call;
  call.service = service;
  call.operation = operation;
  call.patience = std::move(patience);
  call.request.method = "POST";
  call.request.url = parts_.endpoints.of(service).url + "/";
  call.request.headers.set("Content-Type", std::string(dialect.content_type));
  call.request.headers.set("X-Amz-Target", std::string(dialect.target_prefix) + operation);
  call.request.body = boost::json::serialize(body);
  MW_CO_TRY(response, co_await exchange(std::move(call)));
  co_return understand_json(name_of(service, operation), response);
}

base::Task<ApiResult<boost::json::value>> Api::get(Service service, std::string operation,
                                                   std::string path, Patience patience) {
  Call call;
  call.service = service;
  call.operation = operation;
  call.patience = std::move(patience);
  call.request.url = parts_.endpoints.of(service).url + path;
  MW_CO_TRY(response, co_await exchange(std::move(call)));
  co_return understand_json(name_of(service, operation), response);
}

base::Task<ApiResult<net::Response>> Api::exchange(Call call) {
  const auto& stop = call.patience.stop;
  const auto asked = parts_.loop.now();
  for (int tried = 1;; ++tried) {
    const auto wait = bucket_of(call).take(parts_.loop.now());
    if (wait > base::Duration::zero()) {
      co_await base::sleep(parts_.loop, wait, stop);
    }
    const auto began = parts_.loop.now();
    auto answered = co_await attempt(call);
    const int status = answered ? answered->status : answered.error().status;
    const auto now = parts_.loop.now();
    count_attempt(call, status, now - began);
    if (answered || tried >= call.patience.attempts || stop.stop_requested() ||
        !is_worth_retrying(answered.error())) {
      count_request(call, status, now - asked, tried);
      co_return answered;
    }
    const auto& error = answered.error();
    if (error.kind == ErrorKind::Throttled) {
      bucket_of(call).drain(parts_.loop.now());
    }
    if (is_credential_problem(error.code) && parts_.credentials != nullptr) {
      parts_.credentials->invalidate();
    }
    parts_.log.debug("asking AWS again", {{"call", name_of(call.service, call.operation)},
                                          {"attempt", std::to_string(tried)},
                                          {"error", error.message}});
    const auto pause = backoff(error, tried);
    co_await base::sleep(parts_.loop, pause, stop);
  }
}

base::Task<ApiResult<net::Response>> Api::attempt(Call call) {
  const auto name = name_of(call.service, call.operation);
  net::ClientRequest request = std::move(call.request);
  request.timeout = call.patience.timeout;
  request.connect_timeout = kConnectTimeout;
  request.body_limit = kBodyLimit;
  if (parts_.credentials != nullptr) {
    auto credentials = co_await parts_.credentials->get();
    if (!credentials) {
      co_return tl::unexpected(from_transport(name, std::move(credentials).error()));
    }
    SigningScope scope;
    scope.service = to_string(call.service);
    scope.region = parts_.endpoints.of(call.service).signing_region;
    sign(request, scope, *credentials, parts_.loop.now());
  }
  auto sent = co_await parts_.client.send(std::move(request), call.patience.stop);
  if (!sent) {
    co_return tl::unexpected(from_transport(name, std::move(sent).error()));
  }
  if (sent->status < 200 || sent->status > 299) {
    co_return tl::unexpected(read_error(name, *sent));
  }
  co_return *std::move(sent);
}

TokenBucket& Api::bucket_of(const Call& call) {
  const auto name = name_of(call.service, call.operation);
  const auto found = buckets_.find(name);
  if (found != buckets_.end()) {
    return found->second;
  }
  return buckets_
      .emplace(name, TokenBucket(rate_of(call.service, call.operation), parts_.loop.now()))
      .first->second;
}

// Exponential with full jitter; longer when AWS asked for less.
base::Duration Api::backoff(const ApiError& error, int attempt) {
  const double first = error.kind == ErrorKind::Throttled ? 1.0 : 0.2;
  const std::chrono::duration<double> ceiling(first * std::exp2(attempt - 1));
  const auto jittered =
      std::chrono::duration_cast<base::Duration>(ceiling * (0.5 + random_.unit() / 2));
  return std::min<base::Duration>(jittered, kLongestBackoff);
}

void Api::count_attempt(const Call& call, int status, base::Duration took) {
  if (parts_.metrics == nullptr) {
    return;
  }
  const auto labels = labels_of(call.service, call.operation, status);
  parts_.metrics->count("aws_sdk_go_request_attempt_total", "Attempts at AWS calls.", labels);
  parts_.metrics->observe("aws_sdk_go_request_attempt_duration_seconds",
                          "How long each attempt at an AWS call took.", labels, seconds(took),
                          duration_buckets());
}

void Api::count_request(const Call& call, int status, base::Duration took, int attempts) {
  if (parts_.metrics == nullptr) {
    return;
  }
  const auto labels = labels_of(call.service, call.operation, status);
  parts_.metrics->count("aws_sdk_go_request_total", "AWS calls, whatever attempts each took.",
                        labels);
  parts_.metrics->observe("aws_sdk_go_request_duration_seconds",
                          "How long AWS calls took, with waiting and all attempts.", labels,
                          seconds(took), duration_buckets());
  static const std::vector<double> kRetryBuckets{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  parts_.metrics->observe("aws_sdk_go_request_retry_count", "Attempts after the first.", labels,
                          attempts - 1, kRetryBuckets);
}

}  // namespace millwright::cloud::aws
