// metav1.Status and plain HTTP codes as errors. The Status reason decides, since some codes have
// several meanings (409 is both AlreadyExists and Conflict); the code decides when a proxy or a
// load balancer answered without one.
#include "kube/calls/status.hpp"

#include "kube/calls/json.hpp"
#include "millwright/kube/client.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace millwright::kube {
namespace {

using base::ErrorKind;

struct ReasonKind {
  std::string_view reason;
  ErrorKind kind;
};

constexpr std::array kReasons = {
    ReasonKind{"Unauthorized", ErrorKind::Unauthorized},
    ReasonKind{"Forbidden", ErrorKind::Denied},
    ReasonKind{"NotFound", ErrorKind::NotFound},
    ReasonKind{"AlreadyExists", ErrorKind::Exists},
    ReasonKind{"Conflict", ErrorKind::Conflict},
    ReasonKind{"Gone", ErrorKind::Gone},
    ReasonKind{"Expired", ErrorKind::Gone},
    ReasonKind{"ResourceExpired", ErrorKind::Gone},
    ReasonKind{"Invalid", ErrorKind::Invalid},
    ReasonKind{"BadRequest", ErrorKind::Invalid},
    ReasonKind{"TooManyRequests", ErrorKind::Throttled},
    ReasonKind{"ServerTimeout", ErrorKind::Timeout},
    ReasonKind{"Timeout", ErrorKind::Timeout},
    ReasonKind{"InternalError", ErrorKind::Unavailable},
    ReasonKind{"ServiceUnavailable", ErrorKind::Unavailable},
};

// 401 refuses no right: the server does not know who asks. A token is renewed, a server that cannot
// check one comes back, and what is allowed is the same as before.
ErrorKind kind_of_code(std::int64_t code) {
  switch (code) {
    case 401:
      return ErrorKind::Unauthorized;
    case 403:
      return ErrorKind::Denied;
    case 404:
      return ErrorKind::NotFound;
    case 408:
    case 504:
      return ErrorKind::Timeout;
    case 409:
      return ErrorKind::Conflict;
    case 410:
      return ErrorKind::Gone;
    case 429:
      return ErrorKind::Throttled;
    default:
      return code >= 500 ? ErrorKind::Unavailable : ErrorKind::Invalid;
  }
}

ErrorKind kind_of(std::string_view reason, std::int64_t code) {
  const auto* found = std::ranges::find(kReasons, reason, &ReasonKind::reason);
  return found != kReasons.end() ? found->kind : kind_of_code(code);
}

// The budget that refused an eviction is named only in the causes.
bool append_budget_causes(const boost::json::value& status, std::string& message) {
  const auto* causes = model::find_path(status, "details.causes");
  if (causes == nullptr || !causes->is_array()) {
    return false;
  }
  bool found = false;
  for (const auto& cause : causes->get_array()) {
    if (text_at(cause, "reason") == "DisruptionBudget") {
      found = true;
      message.append(" ").append(excerpt(text_at(cause, "message"), 500));
    }
  }
  return found;
}

std::string_view advice(std::int64_t code) {
  switch (code) {
    case 401:
      return " (the API server does not accept our credentials; check them)";
    case 403:
      return " (grant it in the role bound to our account)";
    default:
      return {};
  }
}

ApiFailure from_status(const boost::json::value& status, std::int64_t code, std::string_view what) {
  ApiFailure failure;
  code = integer_at(status, "code").value_or(code);
  failure.error.kind = kind_of(text_at(status, "reason"), code);
  const auto message = text_at(status, "message");
  failure.error.message.append(what).append(": ");
  failure.error.message.append(message.empty() ? "the API server answered " + std::to_string(code)
                                               : excerpt(message, 2000));
  failure.disruption_budget = append_budget_causes(status, failure.error.message);
  failure.error.message.append(advice(code));
  const auto seconds = integer_at(status, "details.retryAfterSeconds").value_or(0);
  failure.error.retry_after = std::chrono::seconds(std::clamp<std::int64_t>(seconds, 0, 86'400));
  return failure;
}

ApiFailure from_code(const net::Response& response, std::string_view what) {
  ApiFailure failure;
  failure.error.kind = kind_of_code(response.status);
  auto& message = failure.error.message;
  message.append(what).append(": the API server answered ");
  message.append(std::to_string(response.status));
  if (response.status == 404) {
    message.append(" (it does not serve this resource; install its CustomResourceDefinition)");
  } else if (response.status >= 300 && response.status < 400) {
    message.append(" (a redirect; check the server address)");
  } else if (!response.body.empty()) {
    message.append(": ").append(excerpt(response.body, 200));
  }
  message.append(advice(response.status));
  return failure;
}

}  // namespace

std::string excerpt(std::string_view text, std::size_t limit) {
  std::string line(text.substr(0, limit));
  std::ranges::replace_if(
      line, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  while (!line.empty() && line.back() == ' ') {
    line.pop_back();
  }
  if (text.size() > limit) {
    line.append("...");
  }
  return line;
}

ApiFailure read_status(const boost::json::value& status, std::string_view what) {
  return from_status(status, 500, what);
}

ApiFailure read_failure(const net::Response& response, std::string_view what) {
  const auto parsed = model::parse_json(response.body);
  const bool is_status = parsed && text_at(*parsed, "kind") == "Status";
  auto failure =
      is_status ? from_status(*parsed, response.status, what) : from_code(response, what);
  const auto header = response.headers.get("Retry-After");
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(header.data(), header.data() + header.size(), seconds);
  if (error == std::errc() && end == header.data() + header.size()) {
    failure.error.retry_after = std::max<std::chrono::milliseconds>(
        failure.error.retry_after,
        std::chrono::seconds(std::clamp<std::int64_t>(seconds, 0, 86'400)));
  }
  return failure;
}

base::Error error_of(const net::Response& response, std::string_view what) {
  return read_failure(response, what).error;
}

}  // namespace millwright::kube
