#include "cloud/common/calls/api_error.hpp"

#include <algorithm>

namespace millwright::cloud {
namespace {

constexpr std::size_t kShownOfBody = 120;

}  // namespace

bool may_have_taken_effect(const ApiError& error) {
  const bool answer_lost = error.kind == base::ErrorKind::Timeout ||
                           error.kind == base::ErrorKind::Unavailable ||
                           error.kind == base::ErrorKind::Cancelled;
  return error.earlier_answer_lost || (answer_lost && !error.not_asked);
}

base::ErrorKind kind_of_status(int status) {
  switch (status) {
    case 401:
    case 403:
      return base::ErrorKind::Denied;
    case 404:
      return base::ErrorKind::NotFound;
    case 408:
      return base::ErrorKind::Unavailable;
    case 429:
      return base::ErrorKind::Throttled;
    default:
      return status >= 500 ? base::ErrorKind::Unavailable : base::ErrorKind::Invalid;
  }
}

std::string excerpt(std::string_view body) {
  std::string text(body.substr(0, kShownOfBody));
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return body.size() > kShownOfBody ? text + "..." : text;
}

ApiError from_transport(std::string_view call, base::Error error) {
  ApiError result;
  result.kind = error.kind;
  result.message = std::string(call).append(": ").append(error.message);
  return result;
}

}  // namespace millwright::cloud
