#include "cloud/aws/calls/api.hpp"

#include "millwright/model/codec.hpp"

#include <boost/json/serialize.hpp>

namespace millwright::cloud::aws {
namespace {

constexpr std::size_t kBodyLimit = 128U << 20;
constexpr std::chrono::milliseconds kConnectTimeout{5'000};

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
  const auto labelled = [this, service = call.service,
                         operation = call.operation](const Attempted& attempted) {
    count(labels_of(service, operation, attempted.status), attempted);
  };
  RetriedCall retried;
  retried.name = name_of(call.service, call.operation);
  retried.rate = rate_of(call.service, call.operation);
  retried.patience = call.patience;
  retried.note = labelled;
  retried.attempt = [this, made = std::move(call)] { return attempt(made); };
  co_return co_await retries_.run(std::move(retried));
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

void Api::count(const base::MetricLabels& labels, const Attempted& attempted) {
  if (parts_.metrics == nullptr) {
    return;
  }
  auto& metrics = *parts_.metrics;
  const auto took = seconds(attempted.took);
  if (!attempted.last) {
    metrics.count("aws_sdk_go_request_attempt_total", "Attempts at AWS calls.", labels);
    metrics.observe("aws_sdk_go_request_attempt_duration_seconds",
                    "How long each attempt at an AWS call took.", labels, took, duration_buckets());
    return;
  }
  metrics.count("aws_sdk_go_request_total", "AWS calls, whatever attempts each took.", labels);
  metrics.observe("aws_sdk_go_request_duration_seconds",
                  "How long AWS calls took, with waiting and all attempts.", labels, took,
                  duration_buckets());
  static const std::vector<double> kRetryBuckets{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  metrics.observe("aws_sdk_go_request_retry_count", "Attempts after the first.", labels,
                  attempted.attempts - 1, kRetryBuckets);
}

}  // namespace millwright::cloud::aws
