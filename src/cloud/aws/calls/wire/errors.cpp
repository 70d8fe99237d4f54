#include "cloud/aws/calls/wire/errors.hpp"

#include "cloud/aws/calls/wire/xml.hpp"
#include "millwright/cloud/error_text.hpp"
#include "millwright/model/codec.hpp"

#include <algorithm>
#include <array>

namespace millwright::cloud::aws {
namespace {

using base::ErrorKind;

// Karpenter's list (pkg/errors, unfulfillableCapacityErrorCodes).
constexpr std::array<std::string_view, 9> kUnfulfillable{"InsufficientInstanceCapacity",
                                                         "MaxSpotInstanceCountExceeded",
                                                         "SpotMaxPriceTooLow",
                                                         "VcpuLimitExceeded",
                                                         "UnfulfillableCapacity",
                                                         "Unsupported",
                                                         "InsufficientFreeAddressesInSubnet",
                                                         "MaxFleetCountExceeded",
                                                         "ReservationCapacityExceeded"};
constexpr std::array<std::string_view, 7> kThrottles{
    "RequestLimitExceeded",     "Throttling",
    "ThrottlingException",      "ThrottledException",
    "TooManyRequestsException", "EC2ThrottledException",
    "RequestThrottled"};
constexpr std::array<std::string_view, 7> kCredentialProblems{
    "ExpiredToken",       "ExpiredTokenException",       "InvalidClientTokenId", "RequestExpired",
    "InvalidAccessKeyId", "UnrecognizedClientException", "AuthFailure"};
constexpr std::array<std::string_view, 6> kDenied{
    "UnauthorizedOperation",     "AccessDenied",
    "AccessDeniedException",     "SignatureDoesNotMatch",
    "InvalidSignatureException", "InvalidIdentityToken"};
constexpr std::array<std::string_view, 9> kNotFound{"NoSuchEntity",
                                                    "NoSuchEntityException",
                                                    "ParameterNotFound",
                                                    "QueueDoesNotExist",
                                                    "AWS.SimpleQueueService.NonExistentQueue",
                                                    "ResourceNotFoundException",
                                                    "InvalidPlacementGroup.Unknown",
                                                    "ParameterVersionNotFound",
                                                    "NoSuchBucket"};
constexpr std::array<std::string_view, 2> kExists{
    "EntityAlreadyExists", "InvalidLaunchTemplateName.AlreadyExistsException"};
constexpr std::array<std::string_view, 6> kUnavailable{"InternalError",       "InternalFailure",
                                                       "InternalServerError", "ServiceUnavailable",
                                                       "Unavailable",         "RequestTimeout"};

template <std::size_t N>
bool is_among(const std::array<std::string_view, N>& codes, std::string_view code) {
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

struct Parts {
  std::string code;
  std::string message;
  std::string request_id;
};

// <Response><Errors><Error> of EC2, <ErrorResponse><Error> of the Query services.
bool read_xml(const std::string& body, Parts& parts) {
  const auto root = parse_xml(body);
  if (!root) {
    return false;
  }
  const auto& list = root->child("Errors");
  const auto& error = list.has("Error") ? list.child("Error") : root->child("Error");
  parts.code = error.text_of("Code");
  parts.message = error.text_of("Message");
  parts.request_id =
      root->has("RequestID") ? root->text_of("RequestID") : root->text_of("RequestId");
  return !parts.code.empty();
}

// "com.amazonaws.sqs#QueueDoesNotExist" and "ValidationException:http://..." to the bare name.
std::string bare_code(std::string_view code) {
  code = code.substr(0, code.find(':'));
  const auto hash = code.find('#');
  return std::string(hash == std::string_view::npos ? code : code.substr(hash + 1));
}

bool read_json(const net::Response& response, Parts& parts) {
  const auto json = model::parse_json(response.body);
  if (!json || !json->is_object()) {
    return false;
  }
  auto code = model::text_at(*json, "__type");
  if (code.empty()) {
    code = response.headers.get("x-amzn-ErrorType");
  }
  if (code.empty()) {
    code = model::text_at(*json, "code");
  }
  parts.code = bare_code(code);
  parts.message = model::text_at(*json, "message");
  if (parts.message.empty()) {
    parts.message = model::text_at(*json, "Message");
  }
  return !parts.code.empty() || !parts.message.empty();
}

std::string_view advice(ErrorKind kind, std::string_view code) {
  if (is_credential_problem(code)) {
    return "; check the credentials of the controller and the clock of its machine";
  }
  if (kind == ErrorKind::Denied) {
    return "; allow the action in the IAM policy of the controller's role (docs/aws.md)";
  }
  return "";
}

}  // namespace

bool is_unfulfillable(std::string_view code) {
  return is_among(kUnfulfillable, code);
}
bool is_credential_problem(std::string_view code) {
  return is_among(kCredentialProblems, code);
}
bool is_throttle(std::string_view code) {
  return is_among(kThrottles, code);
}

ErrorKind kind_of(std::string_view code, int status) {
  if (is_unfulfillable(code)) {
    return ErrorKind::NoCapacity;
  }
  if (is_throttle(code)) {
    return ErrorKind::Throttled;
  }
  if (is_credential_problem(code) || is_among(kDenied, code)) {
    return ErrorKind::Denied;
  }
  // EC2 spells it both ways: InvalidInstanceID.NotFound, ...NotFoundException.
  if (is_among(kNotFound, code) || code.ends_with(".NotFound") ||
      code.ends_with(".NotFoundException")) {
    return ErrorKind::NotFound;
  }
  if (is_among(kExists, code) || code.ends_with(".Duplicate")) {
    return ErrorKind::Exists;
  }
  if (is_among(kUnavailable, code)) {
    return ErrorKind::Unavailable;
  }
  return kind_of_status(status);
}

std::string request_id_of(const net::Response& response) {
  for (const auto name : {"x-amzn-requestid", "x-amz-request-id", "x-amzn-request-id"}) {
    if (const auto* found = response.headers.find(name)) {
      return *found;
    }
  }
  return {};
}

ApiError read_error(std::string_view call, const net::Response& response) {
  Parts parts;
  const bool understood = read_xml(response.body, parts) || read_json(response, parts);
  ApiError error;
  error.code = parts.code;
  error.request_id = parts.request_id.empty() ? request_id_of(response) : parts.request_id;
  error.status = response.status;
  error.kind = kind_of(error.code, response.status);
  error.keys_refused = is_credential_problem(error.code);
  error.message = call;
  error.message.append(": ");
  if (understood) {
    error.message.append(parts.code.empty() ? "refused" : parts.code);
    error.message.append(": ").append(parts.message);
  } else {
    error.message.append("HTTP ").append(std::to_string(response.status));
    error.message.append(" without an answer of AWS's: ").append(excerpt(response.body));
  }
  error.message.append(advice(error.kind, error.code));
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
  return error;
}

}  // namespace millwright::cloud::aws
