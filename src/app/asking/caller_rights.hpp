// Whether the bearer of a token may ask: the API server says who it is (TokenReview) and whether
// the cluster's roles allow it (SubjectAccessReview). What it said is kept for a short time, and
// callers cannot make the program ask the API server without a bound. Loop thread only.
#pragma once

#include "millwright/kube/client.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace millwright::app {

// The right that is asked for: `get` on this nonResourceURL.
inline constexpr std::string_view kAskingUrl = "/millwright";

class CallerRights {
 public:
  static constexpr std::size_t kMostKept = 256;
  static constexpr std::size_t kMostAtOnce = 16;
  static constexpr std::size_t kLongestToken = 16U << 10;
  // A right that is taken back counts no longer than this; one that is given counts sooner.
  static constexpr base::Duration kKeepAllowed = std::chrono::seconds(60);
  static constexpr base::Duration kKeepRefused = std::chrono::seconds(5);

  // `client` is for these calls alone, so that callers spend its rate and nobody else's. It
  // outlives the object, and the object its checks.
  explicit CallerRights(kube::Client& client) : client_(client) {}

  // No value: the caller may ask. Otherwise what to answer: 401, 403, 429 or 503.
  base::Task<std::optional<net::Response>> check(std::string token);

 private:
  struct Verdict {
    base::TimePoint until{};
    std::optional<net::Response> refusal;
  };

  base::Task<base::Result<std::optional<net::Response>>> ask(std::string token);
  void keep(std::string token, std::optional<net::Response> refusal);
  base::TimePoint now() const { return client_.loop().now(); }

  kube::Client& client_;
  std::map<std::string, Verdict, std::less<>> kept_;  // by token: never logged, only in memory
  std::size_t under_way_ = 0;
};

}  // namespace millwright::app
