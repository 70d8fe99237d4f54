// Whether the bearer of a token may ask: the API server says who it is (TokenReview) and whether
// the cluster's roles allow it (SubjectAccessReview). What it said is kept for a short time, and
// callers cannot make the program ask the API server without a bound. Loop thread only.
//
// Who sends tokens that nobody knows spends the budget of newcomers, and of that no more than one
// peer's share. A token that was good is checked again from a budget of its own, before its answer
// ends, so that a flood of forged tokens keeps out nobody who was let in.
#pragma once

#include "millwright/base/task.hpp"
#include "millwright/kube/client.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::app {

// The right that is asked for: `get` on this nonResourceURL.
inline constexpr std::string_view kAskingUrl = "/millwright";

class CallerRights {
 public:
  static constexpr std::size_t kMostAllowed = 256;
  static constexpr std::size_t kMostRefused = 256;
  // Checks under way: of tokens that were never good, those of one peer among them, and of others.
  static constexpr std::size_t kMostNewcomers = 16;
  static constexpr std::size_t kMostOfOnePeer = 4;
  static constexpr std::size_t kMostRenewals = 16;
  static constexpr std::size_t kLongestToken = 16U << 10;
  // A right that is taken back counts no longer than this; one that is given counts sooner.
  static constexpr base::Duration kKeepAllowed = std::chrono::seconds(60);
  static constexpr base::Duration kKeepRefused = std::chrono::seconds(5);
  // Who asks so long before the end of the answer has it renewed, and need not wait for that.
  static constexpr base::Duration kRenewBefore = std::chrono::seconds(20);
  // For so long after the end of its answer a token is no newcomer.
  static constexpr base::Duration kRemember = std::chrono::minutes(10);

  // What each of the two clients below may spend: half of 10 calls a second, 20 at once.
  static kube::ClientOptions limits();

  // The clients are for these calls alone, so that callers spend their rates and nobody else's, and
  // neither kind of check waits for the other. They outlive the object, and the object outlives
  // what waits in check().
  CallerRights(kube::Client& newcomers, kube::Client& renewals)
      : newcomers_(newcomers), renewals_(renewals), group_(newcomers.loop()) {}

  // No value: the caller may ask. Otherwise what to answer: 401, 403, 429 or 503. `peer` is the
  // address that the token came from.
  base::Task<std::optional<net::Response>> check(std::string token, std::string peer);

 private:
  using Verdict = std::optional<net::Response>;  // no value: the caller may ask
  struct Refusal {
    base::TimePoint until;
    net::Response answer;
  };
  // Callers with the same token wait for one check.
  struct Check {
    bool renewal = false;
    std::string peer;
    std::vector<base::Promise<Verdict>> waiting;
  };
  // By token: never logged, only in memory.
  template <class T>
  using ByToken = std::map<std::string, T, std::less<>>;

  Check* begin(const std::string& token, const std::string& peer);
  bool has_room_for(const Check& check) const;
  base::Task<void> run(std::string token, kube::Client* client);
  base::Task<base::Result<Verdict>> ask(std::string token, kube::Client* client);
  void keep(const std::string& token, const Verdict& verdict);
  base::TimePoint now() const { return newcomers_.loop().now(); }

  kube::Client& newcomers_;
  kube::Client& renewals_;
  ByToken<base::TimePoint> allowed_;  // until when; kept longer, see kRemember
  ByToken<Refusal> refused_;
  ByToken<Check> under_way_;
  base::TaskGroup group_;  // of the checks; last, so that it ends first
};

}  // namespace millwright::app
