#include "cloud/common/keys/renewed_credentials.hpp"

#include <algorithm>

namespace millwright::cloud {
namespace {

// Keys are renewed well before they expire, because signed calls wait in queues.
constexpr base::Duration kRenewAhead = std::chrono::minutes(5);
// Time until the next try after a failed renewal, while the old keys are still valid.
constexpr base::Duration kTryAgain = std::chrono::seconds(30);

}  // namespace

bool RenewedCredentials::is_fresh() const {
  return current_ && !invalid_ && parts_.loop.now() < renew_at_;
}

base::Task<base::Result<Credentials>> RenewedCredentials::get() {
  while (!is_fresh()) {
    if (!renewing_) {
      co_return co_await renew();
    }
    const base::Promise<bool> done(parts_.loop);
    waiting_.push_back(done);
    const bool usable = co_await done.get();
    if (!usable) {
      co_return tl::unexpected(failure_);
    }
  }
  co_return *current_;
}

base::Task<base::Result<Credentials>> RenewedCredentials::renew() {
  renewing_ = true;
  auto found = co_await parts_.find();
  renewing_ = false;
  const auto now = parts_.loop.now();
  if (found) {
    current_ = *found;
    invalid_ = false;
    renew_at_ = base::TimePoint::max();
    if (found->expires_at) {
      const auto left = std::max(*found->expires_at - now, base::Duration::zero());
      renew_at_ = *found->expires_at - std::min(kRenewAhead, left / 2);
    }
  } else if (current_ && !invalid_ && current_->expires_at && now < *current_->expires_at) {
    parts_.log.warn(parts_.cloud + " credentials could not be renewed; the old ones still serve",
                    {{"error", found.error().message}});
    renew_at_ = std::min(now + kTryAgain, *current_->expires_at);
    found = *current_;
  }
  if (!found) {
    failure_ = found.error();
  }
  for (const auto& waiting : std::exchange(waiting_, {})) {
    waiting.set(found.has_value());
  }
  co_return found;
}

}  // namespace millwright::cloud
