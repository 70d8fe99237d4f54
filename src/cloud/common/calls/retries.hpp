// One call after another attempt until it succeeds or is not worth another: at the rate that the
// API allows, with exponential backoff and jitter, and with new keys after a refusal of the old.
// Loop thread only.
#pragma once

#include "cloud/common/calls/api_error.hpp"
#include "cloud/common/keys/credentials.hpp"
#include "cloud/common/pace/token_bucket.hpp"
#include "millwright/base/log.hpp"
#include "millwright/base/random.hpp"
#include "millwright/base/task.hpp"
#include "millwright/net/http.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <stop_token>
#include <string>

namespace millwright::cloud {

// How long each attempt of a call may take, and how many there are.
struct Patience {
  Patience() = default;
  explicit Patience(std::stop_token s) : stop(std::move(s)) {}
  std::chrono::milliseconds timeout{20'000};
  int attempts = 3;  // as the AWS SDKs' standard retry mode
  // False: a call that may have taken effect is not made again, because it would do so twice.
  bool repeatable = true;
  // True: no attempt is made once set_may_buy()'s answer is no. What is under way goes on, since
  // its answer says what was bought.
  bool buys = false;
  std::stop_token stop;
};

// What became of a call, for metrics.
struct Attempted {
  int status = 0;  // of HTTP; 0 when nobody answered
  base::Duration took{};
  int attempts = 1;   // so far
  bool last = false;  // true: `took` is the time since the call was made, waiting included
};

struct RetriedCall {
  std::string name;  // "ec2 CreateFleet": calls of equal name share a rate
  Rate rate;
  Patience patience;
  std::function<base::Task<ApiResult<net::Response>>()> attempt;
  std::function<void(const Attempted&)> note;  // may be empty
};

class Retries {
 public:
  struct Parts {
    base::Loop& loop;
    std::string cloud;  // for people: "AWS"
    CredentialSource* credentials = nullptr;
    base::Logger log;
    std::uint64_t seed = 0;
  };
  explicit Retries(Parts parts) : parts_(std::move(parts)), random_(parts_.seed) {}

  base::Task<ApiResult<net::Response>> run(RetriedCall call);
  // As Provider::set_may_buy().
  void set_may_buy(const std::function<bool()>& may_buy) { may_buy_ = may_buy; }

 private:
  bool may_ask(const RetriedCall& call) const {
    return !call.patience.buys || !may_buy_ || may_buy_();
  }
  TokenBucket& bucket_of(const RetriedCall& call);
  base::Duration backoff(const ApiError& error, int attempt);

  Parts parts_;
  base::Random random_;
  std::map<std::string, TokenBucket, std::less<>> buckets_;
  std::function<bool()> may_buy_;
};

}  // namespace millwright::cloud
