// Errors that Huawei Cloud answers: code, message and request id, wherever in the JSON they are,
// and what each code means for the caller.
#pragma once

#include "cloud/common/calls/api_error.hpp"
#include "millwright/net/http.hpp"

#include <string>
#include <string_view>

namespace millwright::cloud::huawei {

// What a refusal to make a node means: the offering is sold out, or the type cannot be used in the
// cluster's network. In both cases the next candidate may serve.
bool is_out_of_stock(const ApiError& error);
bool is_unfit_for_network(const ApiError& error);

// An ApiError from a non-2xx answer. `call` names the operation for people: "cce create node".
ApiError read_error(std::string_view call, const net::Response& response);
// The error for a 2xx answer that cannot be read. Shows nothing of the body, which may contain
// credentials.
ApiError bad_answer(std::string_view call, const net::Response& response, std::string_view problem);

}  // namespace millwright::cloud::huawei
