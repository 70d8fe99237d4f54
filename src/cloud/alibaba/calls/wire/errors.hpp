// Errors that Alibaba Cloud answers: code, message and request id, and what each code means for the
// caller ("Error codes" of the ECS, VPC, STS and CS API references).
#pragma once

#include "cloud/common/calls/api_error.hpp"
#include "millwright/net/http.hpp"

#include <string>
#include <string_view>

namespace millwright::cloud::alibaba {

// By the code; by the HTTP status when the code is not known.
base::ErrorKind kind_of(std::string_view code, int status);

// ECS cannot provide the offering now: out of stock, or the account's quota for it is used up.
bool is_capacity_problem(std::string_view code);
// The vSwitch has no free address; the zone's other vSwitches may have.
bool is_vswitch_full(std::string_view code);
// The type or its zone does not take the category that was asked for the system disk; another one
// may do.
bool is_system_disk_problem(std::string_view code);
// The account cannot buy anything: no balance, under risk control. No offering is to blame.
bool is_account_problem(std::string_view code);
// The credentials are wrong or too old; new ones may help.
bool is_credential_problem(std::string_view code);
bool is_throttle(std::string_view code);
// The instance is still starting and cannot be deleted yet.
bool is_wrong_state(std::string_view code);

// An ApiError from a non-2xx answer. `call` names the operation for people: "ecs RunInstances".
ApiError read_error(std::string_view call, const net::Response& response);
// The error for a code inside a 2xx answer, as a launch's results have them.
ApiError coded_error(std::string_view call, std::string_view code, std::string_view message);
// The error for a 2xx answer that cannot be read. Shows nothing of the body, which may contain
// credentials.
ApiError bad_answer(std::string_view call, std::string_view problem);

}  // namespace millwright::cloud::alibaba
