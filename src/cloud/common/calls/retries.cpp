#include "cloud/common/calls/retries.hpp"

#include <algorithm>
#include <cmath>

namespace millwright::cloud {
namespace {

constexpr auto kLongestBackoff = std::chrono::seconds(20);

bool is_worth_retrying(const ApiError& error, bool repeatable) {
  const bool was_refused = error.kind == base::ErrorKind::Throttled || error.keys_refused;
  return was_refused || (repeatable && (error.kind == base::ErrorKind::Unavailable ||
                                        error.kind == base::ErrorKind::Timeout));
}

// Unavailable: the claim is not given up, but left to the next leader.
ApiError not_asked(const RetriedCall& call, bool answer_lost) {
  ApiError error;
  error.kind = base::ErrorKind::Unavailable;
  error.message = call.name + ": not asked, the term is over";
  error.not_asked = true;
  error.earlier_answer_lost = answer_lost;
  return error;
}

void note(const RetriedCall& call, const Attempted& attempted) {
  if (call.note) {
    call.note(attempted);
  }
}

}  // namespace

base::Task<ApiResult<net::Response>> Retries::run(RetriedCall call) {
  const auto& stop = call.patience.stop;
  const auto asked = parts_.loop.now();
  bool answer_lost = false;
  for (int tried = 1;; ++tried) {
    const auto wait = bucket_of(call).take(parts_.loop.now());
    if (wait > base::Duration::zero()) {
      co_await base::sleep(parts_.loop, wait, stop);
    }
    if (!may_ask(call)) {
      co_return tl::unexpected(not_asked(call, answer_lost));
    }
    const auto began = parts_.loop.now();
    auto answered = co_await call.attempt();
    if (!answered) {
      answered.error().earlier_answer_lost = answer_lost;
      answer_lost = may_have_taken_effect(answered.error());
    }
    const int status = answered ? answered->status : answered.error().status;
    const auto now = parts_.loop.now();
    note(call, {.status = status, .took = now - began, .attempts = tried, .last = false});
    if (answered || tried >= call.patience.attempts || stop.stop_requested() ||
        !is_worth_retrying(answered.error(), call.patience.repeatable)) {
      note(call, {.status = status, .took = now - asked, .attempts = tried, .last = true});
      co_return answered;
    }
    const auto& error = answered.error();
    if (error.kind == base::ErrorKind::Throttled) {
      bucket_of(call).drain(parts_.loop.now());
    }
    if (error.keys_refused && parts_.credentials != nullptr) {
      parts_.credentials->invalidate();
    }
    parts_.log.debug(
        "asking " + parts_.cloud + " again",
        {{"call", call.name}, {"attempt", std::to_string(tried)}, {"error", error.message}});
    const auto pause = backoff(error, tried);
    co_await base::sleep(parts_.loop, pause, stop);
  }
}

TokenBucket& Retries::bucket_of(const RetriedCall& call) {
  const auto found = buckets_.find(call.name);
  if (found != buckets_.end()) {
    return found->second;
  }
  return buckets_.emplace(call.name, TokenBucket(call.rate, parts_.loop.now())).first->second;
}

// Exponential with jitter; longer when the cloud asked for less.
base::Duration Retries::backoff(const ApiError& error, int attempt) {
  const double first = error.kind == base::ErrorKind::Throttled ? 1.0 : 0.2;
  const std::chrono::duration<double> ceiling(first * std::exp2(attempt - 1));
  const auto jittered =
      std::chrono::duration_cast<base::Duration>(ceiling * (0.5 + random_.unit() / 2));
  return std::min<base::Duration>(jittered, kLongestBackoff);
}

}  // namespace millwright::cloud
