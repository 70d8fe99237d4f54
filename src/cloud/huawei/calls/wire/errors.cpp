#include "cloud/huawei/calls/wire/errors.hpp"

#include "cloud/common/text/text.hpp"
#include "millwright/cloud/error_text.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <array>

namespace millwright::cloud::huawei {
namespace {

namespace json = boost::json;
using base::ErrorKind;

constexpr std::string_view kSoldOutCode = "CCE_CM.0021";
constexpr std::string_view kNetworkCode = "CCE.01400025";
// The API gateway's own.
constexpr std::string_view kThrottledCode = "APIGW.0308";

// What Karpenter's provider for Huawei Cloud takes for "sold out" in messages without a code.
constexpr std::array<std::string_view, 5> kSoldOutTexts{"insufficient in specified az",
                                                        "insufficient capacity", "out of stock",
                                                        "sold out", "sell out"};
constexpr std::string_view kNetworkText = "eni network is not supported";

// Huawei Cloud's services spell a code and its message in three ways, and nest them.
struct Spelling {
  std::string_view code;
  std::string_view message;
};
constexpr std::array<Spelling, 3> kSpellings{
    {{"error_code", "error_msg"}, {"errorCode", "errorMsg"}, {"code", "message"}}};
constexpr int kDeepest = 8;

struct Parts {
  std::string code;
  std::string message;
};

// IAM's codes are numbers.
std::string code_text(const json::value* value) {
  if (value != nullptr && value->is_int64()) {
    return std::to_string(value->get_int64());
  }
  return std::string(model::as_text(value));
}

bool find_error(const json::value& at, Parts& parts, int depth) {
  const auto* object = at.if_object();
  if (object == nullptr || depth > kDeepest) {
    return false;
  }
  for (const auto& spelling : kSpellings) {
    const auto* code = object->if_contains(spelling.code);
    const auto* message = object->if_contains(spelling.message);
    if (code != nullptr && message != nullptr) {
      parts = {code_text(code), std::string(model::as_text(message))};
      return true;
    }
  }
  return std::any_of(object->begin(), object->end(),
                     [&](const auto& each) { return find_error(each.value(), parts, depth + 1); });
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool has_code(const ApiError& error) {
  return !error.code.empty() && error.code != std::to_string(error.status);
}

bool is_about_quota(std::string_view message) {
  return contains(message, "quota");
}
bool is_about_account(std::string_view message) {
  return contains(message, "arrear") || contains(message, "insufficient balance") ||
         contains(message, "account is frozen") || contains(message, "account is restricted");
}

ErrorKind kind_of(const ApiError& error, std::string_view message) {
  if (is_out_of_stock(error) || is_unfit_for_network(error)) {
    return ErrorKind::NoCapacity;
  }
  if (error.code == kThrottledCode || error.status == 429) {
    return ErrorKind::Throttled;
  }
  if (is_about_quota(message) || is_about_account(message)) {
    return ErrorKind::Denied;
  }
  return kind_of_status(error.status);
}

std::string_view advice_for(const ApiError& error, std::string_view message) {
  if (error.keys_refused) {
    return "; check the credentials of the controller and the clock of its machine";
  }
  if (error.kind != ErrorKind::Denied) {
    return "";
  }
  if (is_about_quota(message)) {
    return "; ask Huawei Cloud for a higher quota, or limit the NodePools (spec.limits)";
  }
  if (is_about_account(message)) {
    return "; the account cannot buy: see its bills and restrictions in the console";
  }
  return "; allow the action in the IAM policy of the controller's user or agency";
}

std::string request_id_of(const net::Response& response) {
  return std::string(response.headers.get("X-Request-Id"));
}

}  // namespace

bool is_out_of_stock(const ApiError& error) {
  const auto message = lower_case(error.message);
  return error.code == kSoldOutCode ||
         (!has_code(error) &&
          std::any_of(kSoldOutTexts.begin(), kSoldOutTexts.end(),
                      [&](std::string_view text) { return contains(message, text); }));
}

bool is_unfit_for_network(const ApiError& error) {
  return error.code == kNetworkCode || contains(lower_case(error.message), kNetworkText);
}

ApiError read_error(std::string_view call, const net::Response& response) {
  Parts parts;
  const auto body = model::parse_json(response.body);
  const bool understood = body && find_error(*body, parts, 0);
  ApiError error;
  error.status = response.status;
  error.code = parts.code.empty() ? std::to_string(response.status) : parts.code;
  error.request_id = request_id_of(response);
  error.message = understood ? parts.message : excerpt(response.body);
  error.keys_refused = response.status == 401;
  const auto said = lower_case(error.message);
  error.kind = kind_of(error, said);
  std::string text(call);
  if (understood) {
    text.append(": ").append(error.code).append(": ").append(error.message);
  } else {
    text.append(": HTTP ").append(std::to_string(response.status));
    text.append(" without an answer of Huawei Cloud's: ").append(error.message);
  }
  error.message = text.append(advice_for(error, said));
  error.message.append(request_id_note(error.request_id));
  return error;
}

ApiError bad_answer(std::string_view call, const net::Response& response,
                    std::string_view problem) {
  ApiError error;
  error.kind = ErrorKind::Unavailable;
  error.status = response.status;
  error.request_id = request_id_of(response);
  error.message = call;
  error.message.append(": the answer (HTTP ").append(std::to_string(response.status));
  error.message.append(") is ").append(problem);
  error.message.append(request_id_note(error.request_id));
  return error;
}

}  // namespace millwright::cloud::huawei
