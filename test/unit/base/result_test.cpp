#include "millwright/base/result.hpp"

#include <gtest/gtest.h>

#include <set>

namespace millwright::base {
namespace {

constexpr ErrorKind kKinds[] = {
    ErrorKind::Invalid,   ErrorKind::NotFound,    ErrorKind::Conflict,   ErrorKind::Exists,
    ErrorKind::Throttled, ErrorKind::Unavailable, ErrorKind::Timeout,    ErrorKind::Unauthorized,
    ErrorKind::Denied,    ErrorKind::Gone,        ErrorKind::NoCapacity, ErrorKind::NotReady,
    ErrorKind::Cancelled, ErrorKind::Internal};

TEST(ErrorKinds, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const ErrorKind kind : kKinds) {
    names.insert(to_string(kind));
  }
  EXPECT_EQ(names.size(), std::size(kKinds));
}

TEST(ErrorKinds, AreRetryableOnlyWhenTheSameCallMaySucceedLater) {
  std::set<std::string_view> retryable;
  for (const ErrorKind kind : kKinds) {
    if (is_retryable(kind)) {
      retryable.insert(to_string(kind));
    }
  }
  EXPECT_EQ(retryable, (std::set<std::string_view>{"conflict", "throttled", "unavailable",
                                                   "timeout", "unauthorized", "not_ready"}));
}

Result<int> half(int value) {
  if (value % 2 != 0) {
    return fail(ErrorKind::Invalid, std::to_string(value) + " is odd");
  }
  return value / 2;
}

Result<int> quarter(int value) {
  MW_TRY(once, half(value));
  MW_TRY(twice, half(once));
  return twice;
}

TEST(MwTry, ReturnsTheFirstError) {
  EXPECT_EQ(quarter(12), 3);
  ASSERT_FALSE(quarter(6));
  EXPECT_EQ(quarter(6).error(), (Error{ErrorKind::Invalid, "3 is odd", {}}));
}

TEST(WithContext, KeepsKindAndDelayAndPutsTheContextFirst) {
  const Error cause{ErrorKind::Throttled, "slow down", std::chrono::milliseconds(20)};
  EXPECT_EQ(
      with_context("launch claim a", cause).value(),
      (Error{ErrorKind::Throttled, "launch claim a: slow down", std::chrono::milliseconds(20)}));
}

}  // namespace
}  // namespace millwright::base
