#include "cloud/alibaba/calls/wire/errors.hpp"

#include "millwright/cloud/error_text.hpp"
#include "millwright/model/codec.hpp"

#include <algorithm>
#include <array>

namespace millwright::cloud::alibaba {
namespace {

using base::ErrorKind;

constexpr std::size_t kShownOfMessage = 400;

constexpr std::array<std::string_view, 4> kNoCapacity{"NoInstanceStock", "Zone.NotOnSale",
                                                      "InvalidInstanceType.NotSupported",
                                                      "InvalidVSwitchId.IpNotEnough"};
constexpr std::array<std::string_view, 3> kNoMoney{"InvalidAccountStatus.NotEnoughBalance",
                                                   "InvalidAccountStatus.NotEnoughCredit",
                                                   "Forbidden.RiskControl"};
constexpr std::array<std::string_view, 6> kBadKeys{"SignatureDoesNotMatch", "IncompleteSignature",
                                                   "InvalidAccessKeyId",    "InvalidSecurityToken",
                                                   "MissingSecurityToken",  "InvalidTimeStamp"};
constexpr std::array<std::string_view, 5> kNotThereNow{
    "ServiceUnavailable", "InternalError", "UnknownError", "SignatureNonceUsed", "RequestTimeout"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& codes, std::string_view code) {
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

// "Throttling.User" is of the family "Throttling".
bool is_of_family(std::string_view code, std::string_view family) {
  return code.starts_with(family) && (code.size() == family.size() || code[family.size()] == '.');
}

struct Told {
  std::string code;
  std::string message;
  std::string request_id;
};

// RPC-style services write "Code", ROA-style ones "code".
Told told_by(const net::Response& response) {
  Told told;
  const auto json = model::parse_json(response.body);
  if (!json || !json->is_object()) {
    return told;
  }
  const auto either = [&](std::string_view name, std::string_view other) {
    const auto text = model::text_at(*json, name);
    return std::string(text.empty() ? model::text_at(*json, other) : text);
  };
  told.code = either("Code", "code");
  told.message = either("Message", "message");
  told.request_id = either("RequestId", "request_id");
  if (told.request_id.empty()) {
    told.request_id = model::text_at(*json, "requestId");
  }
  return told;
}

// Fit for a log line.
std::string shown(std::string_view text) {
  std::string out(text.substr(0, kShownOfMessage));
  std::replace_if(
      out.begin(), out.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return text.size() > kShownOfMessage ? out + "..." : out;
}

std::string_view advice_for(ErrorKind kind, std::string_view code) {
  if (is_credential_problem(code)) {
    return "; check the credentials of the controller and the clock of its machine";
  }
  if (is_account_problem(code)) {
    return "; nothing can be bought until the Alibaba Cloud account is in order";
  }
  if (kind == ErrorKind::Denied) {
    return "; allow the action in the RAM policy of the controller's identity (docs/alibaba.md)";
  }
  return "";
}

}  // namespace

bool is_vswitch_full(std::string_view code) {
  return code == "InvalidVSwitchId.IpNotEnough";
}

bool is_capacity_problem(std::string_view code) {
  return is_one_of(kNoCapacity, code) || code.starts_with("QuotaExceed") ||
         code.ends_with(".NoStock");
}

bool is_system_disk_problem(std::string_view code) {
  return is_of_family(code, "InvalidSystemDiskCategory");
}

bool is_account_problem(std::string_view code) {
  return is_one_of(kNoMoney, code);
}

bool is_credential_problem(std::string_view code) {
  return std::any_of(kBadKeys.begin(), kBadKeys.end(),
                     [code](std::string_view family) { return is_of_family(code, family); });
}

bool is_throttle(std::string_view code) {
  return is_of_family(code, "Throttling");
}

bool is_wrong_state(std::string_view code) {
  return is_of_family(code, "IncorrectInstanceStatus");
}

ErrorKind kind_of(std::string_view code, int status) {
  if (is_capacity_problem(code)) {
    return ErrorKind::NoCapacity;
  }
  if (is_throttle(code)) {
    return ErrorKind::Throttled;
  }
  if (is_credential_problem(code) || is_account_problem(code) || is_of_family(code, "Forbidden") ||
      is_of_family(code, "NoPermission")) {
    return ErrorKind::Denied;
  }
  if (code.ends_with(".NotFound")) {
    return ErrorKind::NotFound;
  }
  if (is_wrong_state(code)) {
    return ErrorKind::Conflict;
  }
  if (is_one_of(kNotThereNow, code)) {
    return ErrorKind::Unavailable;
  }
  // What is asked for is wrong; no policy would help.
  if (status == 403 && code.starts_with("Invalid")) {
    return ErrorKind::Invalid;
  }
  return kind_of_status(status);
}

ApiError coded_error(std::string_view call, std::string_view code, std::string_view message) {
  ApiError error;
  error.code = code;
  error.kind = kind_of(code, 0);
  error.keys_refused = is_credential_problem(code);
  error.message = call;
  error.message.append(": ").append(shown(code));
  // What is said of a signature repeats the request, with the security token.
  if (!error.keys_refused && !message.empty()) {
    error.message.append(": ").append(shown(message));
  }
  error.message.append(advice_for(error.kind, code));
  return error;
}

ApiError read_error(std::string_view call, const net::Response& response) {
  const auto told = told_by(response);
  ApiError error;
  if (told.code.empty()) {
    error.kind = kind_of_status(response.status);
    error.message = call;
    error.message.append(": HTTP ").append(std::to_string(response.status));
    error.message.append(" without an error code of Alibaba Cloud's");
    error.message.append(advice_for(error.kind, {}));
  } else {
    error = coded_error(call, told.code, told.message);
    error.kind = kind_of(told.code, response.status);
  }
  error.status = response.status;
  error.request_id = shown(told.request_id);
  error.message.append(request_id_note(error.request_id));
  return error;
}

ApiError bad_answer(std::string_view call, std::string_view problem) {
  ApiError error;
  error.kind = ErrorKind::Unavailable;
  error.status = 200;
  error.message = call;
  error.message.append(": the answer is ").append(problem);
  return error;
}

}  // namespace millwright::cloud::alibaba
