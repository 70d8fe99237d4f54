// Errors that a cloud's API answers. Each adapter reads its cloud's own forms of them, and decides
// what a code means.
#pragma once

#include "millwright/base/result.hpp"

#include <string>
#include <string_view>

namespace millwright::cloud {

// Converts to base::Error where the code no longer matters: the message contains it.
struct ApiError : base::Error {
  std::string code;  // "UnauthorizedOperation"; empty when the cloud did not answer
  std::string request_id;
  int status = 0;             // of HTTP; 0 when the cloud did not answer
  bool keys_refused = false;  // the credentials are wrong or too old; new ones may help
  // The answer to an earlier attempt of the call was lost, and this one says nothing of that.
  bool earlier_answer_lost = false;
  bool not_asked = false;  // this attempt was not made
};
// The cloud may have done what it was asked for, or may do it yet.
bool may_have_taken_effect(const ApiError& error);

template <class T = void>
using ApiResult = tl::expected<T, ApiError>;

// The kind by the HTTP status alone, for codes that are not known.
base::ErrorKind kind_of_status(int status);
// The start of a body that was not understood, fit for a log line.
std::string excerpt(std::string_view body);
// What the transport reports, as an error of `call`.
ApiError from_transport(std::string_view call, base::Error error);

}  // namespace millwright::cloud
