// What AWS answers when it refuses: code, message and request id, from the three shapes its
// protocols use, and what each code means for the caller.
#pragma once

#include "millwright/base/result.hpp"
#include "millwright/net/http.hpp"

#include <string>
#include <string_view>

namespace millwright::cloud::aws {

// Converts to base::Error where the code no longer matters: the message has it, and the request id.
struct ApiError : base::Error {
  std::string code;  // "UnauthorizedOperation"; empty when no answer of AWS's came
  std::string request_id;
  int status = 0;  // of HTTP; 0 when no answer came
  // A call that was told to be a dry run and would have succeeded.
  bool is_dry_run_success() const { return code == "DryRunOperation"; }
};

template <class T = void>
using ApiResult = tl::expected<T, ApiError>;

// What the code means, whatever the HTTP status; by the status when the code is not known.
base::ErrorKind kind_of(std::string_view code, int status);

// The offering asked for cannot be had now: "ICE", insufficient capacity error, and its kin.
bool is_unfulfillable(std::string_view code);
// The credentials are wrong or too old; new ones may help.
bool is_credential_problem(std::string_view code);
bool is_throttle(std::string_view code);

// An ApiError from a non-2xx answer in XML or JSON, or in neither. `call` names the operation for
// people: "ec2 CreateFleet".
ApiError read_error(std::string_view call, const net::Response& response);
// An answer that should have been understood: what is wrong with it. Shows nothing of the body,
// which may hold credentials.
ApiError bad_answer(std::string_view call, const net::Response& response, std::string_view problem);
// The x-amzn-requestid header, or the body's own; empty when there is none.
std::string request_id_of(const net::Response& response);

}  // namespace millwright::cloud::aws
