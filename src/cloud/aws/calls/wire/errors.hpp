// Errors that AWS answers: code, message and request id, in the three forms of its protocols, and
// what each code means for the caller.
#pragma once

#include "cloud/common/calls/api_error.hpp"
#include "millwright/net/http.hpp"

#include <string>
#include <string_view>

namespace millwright::cloud::aws {

// By the code; by the HTTP status when the code is not known.
base::ErrorKind kind_of(std::string_view code, int status);

// EC2 cannot provide the offering now (insufficient capacity errors and the like).
bool is_unfulfillable(std::string_view code);
// The credentials are wrong or too old; new ones may help.
bool is_credential_problem(std::string_view code);
bool is_throttle(std::string_view code);

// An ApiError from a non-2xx answer in XML or JSON, or in neither. `call` names the operation for
// people: "ec2 CreateFleet".
ApiError read_error(std::string_view call, const net::Response& response);
// The error for a 2xx answer that cannot be read. Shows nothing of the body, which may contain
// credentials.
ApiError bad_answer(std::string_view call, const net::Response& response, std::string_view problem);
// The x-amzn-requestid header, or the body's own; empty when there is none.
std::string request_id_of(const net::Response& response);

}  // namespace millwright::cloud::aws
