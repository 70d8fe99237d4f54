#include "millwright/base/result.hpp"

namespace millwright::base {

std::string_view to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::Invalid:
      return "invalid";
    case ErrorKind::NotFound:
      return "not_found";
    case ErrorKind::Conflict:
      return "conflict";
    case ErrorKind::Exists:
      return "exists";
    case ErrorKind::Throttled:
      return "throttled";
    case ErrorKind::Unavailable:
      return "unavailable";
    case ErrorKind::Timeout:
      return "timeout";
    case ErrorKind::Unauthorized:
      return "unauthorized";
    case ErrorKind::Denied:
      return "denied";
    case ErrorKind::Gone:
      return "gone";
    case ErrorKind::NoCapacity:
      return "no_capacity";
    case ErrorKind::NotReady:
      return "not_ready";
    case ErrorKind::Cancelled:
      return "cancelled";
    case ErrorKind::Internal:
      return "internal";
  }
  return "internal";
}

bool is_retryable(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::Conflict:
    case ErrorKind::Throttled:
    case ErrorKind::Unavailable:
    case ErrorKind::Timeout:
    case ErrorKind::Unauthorized:
    case ErrorKind::NotReady:
      return true;
    default:
      return false;
  }
}

}  // namespace millwright::base
