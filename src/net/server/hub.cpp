#include "net/server/hub.hpp"

namespace millwright::net {

std::shared_ptr<const TlsContext> Hub::tls() const {
  const std::scoped_lock lock(mutex_);
  return tls_;
}

void Hub::set_tls(std::shared_ptr<const TlsContext> tls) {
  const std::scoped_lock lock(mutex_);
  tls_.swap(tls);
}

bool Hub::admit(const std::shared_ptr<Session>& session) {
  const std::scoped_lock lock(mutex_);
  if (stopping_ || sessions_.size() >= options.max_connections) {
    return false;
  }
  sessions_.emplace(session.get(), session);
  return true;
}

void Hub::leave(Session* session) {
  std::shared_ptr<Session> last;  // destroyed after the lock is released
  const std::scoped_lock lock(mutex_);
  const auto found = sessions_.find(session);
  if (found != sessions_.end()) {
    last = std::move(found->second);
    sessions_.erase(found);
  }
  if (sessions_.empty()) {
    emptied_.notify_all();
  }
}

void Hub::begin_stop() {
  const std::scoped_lock lock(mutex_);
  stopping_ = true;
}

std::vector<std::shared_ptr<Session>> Hub::sessions() const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::shared_ptr<Session>> all;
  all.reserve(sessions_.size());
  for (const auto& [key, session] : sessions_) {
    all.push_back(session);
  }
  return all;
}

bool Hub::wait_until_empty(std::chrono::milliseconds grace) {
  std::unique_lock lock(mutex_);
  return emptied_.wait_for(lock, grace, [this] { return sessions_.empty(); });
}

}  // namespace millwright::net
