// Errors are values. Code decides by an error's kind (retry, HTTP status, condition reason); the
// message is for people.
#pragma once

#include <tl/expected.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace millwright::base {

enum class ErrorKind : std::uint8_t {
  Invalid,       // the input is wrong; retrying the same input cannot help
  NotFound,      // it does not exist, or no longer
  Conflict,      // somebody else changed it first; read again and retry
  Exists,        // an object of that name exists already
  Throttled,     // told to slow down; retry_after says for how long
  Unavailable,   // the other side is down or failing; retry with backoff
  Timeout,       // no answer within the deadline; the effect is unknown
  Unauthorized,  // the other side does not know who asks: a token ran out, or cannot be checked now
  Denied,        // authorisation or admission refused; of a cloud, keys too
  Gone,          // the requested resource version was compacted; list again
  NoCapacity,    // the cloud has no capacity for the offering asked for
  NotReady,      // something needed first is not ready yet
  Cancelled,     // this program stopped it
  Internal,      // a bug in this program
};

// Stable lower-case name, e.g. "not_found"; used in logs and metric labels.
std::string_view to_string(ErrorKind kind);

// True when the same call may succeed later.
bool is_retryable(ErrorKind kind);

struct Error {
  ErrorKind kind = ErrorKind::Internal;
  std::string message;  // names the object, the field and what to do
  std::chrono::milliseconds retry_after{0};

  friend bool operator==(const Error&, const Error&) = default;
};

template <class T = void>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(ErrorKind kind, std::string message,
                                  std::chrono::milliseconds retry_after = {}) {
  return tl::unexpected<Error>(Error{kind, std::move(message), retry_after});
}

// The same error with "<context>: " put before its message.
inline tl::unexpected<Error> with_context(std::string_view context, Error error) {
  error.message.insert(0, ": ").insert(0, context);
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace millwright::base

// Evaluates a Result; on error returns it from the enclosing function, else declares `var`.
#define MW_TRY(var, expr)                                     \
  auto var##_result = (expr);                                 \
  if (!var##_result) {                                        \
    return ::tl::unexpected(std::move(var##_result).error()); \
  }                                                           \
  auto var = *std::move(var##_result)

// The same inside a coroutine that returns Task<Result<...>>.
#define MW_CO_TRY(var, expr)                                     \
  auto var##_result = (expr);                                    \
  if (!var##_result) {                                           \
    co_return ::tl::unexpected(std::move(var##_result).error()); \
  }                                                              \
  auto var = *std::move(var##_result)

// Evaluates a Result, given as an expression or a variable, whose value is not needed; on error
// returns the error from the enclosing coroutine.
#define MW_CO_CHECK(expr)                                                                       \
  do {                                                                                          \
    auto&& mw_co_checked = (expr);                                                              \
    if (!mw_co_checked) {                                                                       \
      co_return ::tl::unexpected(std::forward<decltype(mw_co_checked)>(mw_co_checked).error()); \
    }                                                                                           \
  } while (false)
