#include "net/server/hub.hpp"

#include <utility>

namespace millwright::net {

std::shared_ptr<const TlsContext> Hub::tls() const {
  const std::scoped_lock lock(mutex_);
  return tls_;
}

void Hub::set_tls(std::shared_ptr<const TlsContext> tls) {
  const std::scoped_lock lock(mutex_);
  tls_.swap(tls);
}

Hub::Admission Hub::admit(const std::shared_ptr<Session>& session, const Address& address) {
  const std::scoped_lock lock(mutex_);
  if (stopping_) {
    return {};
  }
  Admission admission{.admitted = true, .goes = nullptr};
  const auto of_address = by_address_.find(address);
  const bool address_is_full =
      of_address != by_address_.end() && of_address->second >= options.max_connections_per_address;
  if (address_is_full || open_ >= options.max_connections) {
    const auto oldest = address_is_full
                            ? longest_waiting(&address, options.max_connections_per_address)
                            : longest_waiting(nullptr, options.max_connections);
    if (oldest == sessions_.end()) {
      return {};
    }
    admission.goes = oldest->second.session;
    forget(oldest->second);
  }
  ++open_;
  ++by_address_[address];
  wait(sessions_.emplace(session.get(), Member{.session = session, .address = address})
           .first->second);
  return admission;
}

// Those that never asked anything go first while they are more than half of the limit: they cannot
// push out somebody who asks now and then. Where they are fewer, those that asked go: they cannot
// keep newcomers from asking either.
Hub::Members::iterator Hub::longest_waiting(const Address* address, std::size_t limit) {
  auto asked = sessions_.end();
  auto silent = sessions_.end();
  std::size_t silent_count = 0;
  for (const auto& [turn, session] : waiting_) {
    const auto member = sessions_.find(session);
    if (address != nullptr && member->second.address != *address) {
      continue;
    }
    silent_count += member->second.has_asked ? 0 : 1;
    auto& oldest = member->second.has_asked ? asked : silent;
    if (oldest == sessions_.end()) {
      oldest = member;
    }
  }
  return silent_count > limit / 2 || asked == sessions_.end() ? silent : asked;
}

void Hub::wait(Member& member) {
  member.turn = ++turns_;
  waiting_.emplace(member.turn, member.session.get());
  note_sending(member);
}

// The session counts no more, and waits no more.
void Hub::forget(Member& member) {
  waiting_.erase(std::exchange(member.turn, 0));
  note_sending(member);
  if (!std::exchange(member.counts, false)) {
    return;
  }
  --open_;
  const auto of_address = by_address_.find(member.address);
  if (--of_address->second == 0) {
    by_address_.erase(of_address);
  }
}

bool Hub::begin_request(Session* session) {
  const std::scoped_lock lock(mutex_);
  const auto found = sessions_.find(session);
  if (found == sessions_.end() || !found->second.counts || found->second.cut) {
    return false;
  }
  waiting_.erase(std::exchange(found->second.turn, 0));
  note_sending(found->second);
  found->second.has_asked = true;
  return true;
}

void Hub::end_request(Session* session) {
  const std::scoped_lock lock(mutex_);
  const auto found = sessions_.find(session);
  if (found != sessions_.end() && found->second.counts) {
    wait(found->second);
  }
}

Hub::Room Hub::hold(Session* session, std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) {
    return {};
  }
  Member& member = found->second;
  Room room{.fits = true, .was_cut = false, .gone = {}};
  if (bytes > member.held) {
    room = member.cut ? Room{.fits = false, .was_cut = true, .gone = {}}
                      : make_room(member, bytes - member.held);
  }
  if (room.fits) {
    set_held(member, bytes);
  }
  return room;
}

// Only those that are older than the one that asks: else the oldest of all could push out the
// others with every byte that it sends.
Hub::Room Hub::make_room(const Member& member, std::size_t more) {
  std::size_t held = bytes_held_;
  std::vector<Member*> chosen;
  for (const auto& [turn, session] : sending_) {
    if (held + more <= options.bytes_in_flight || session == member.session.get()) {
      break;
    }
    Member& older = sessions_.find(session)->second;
    held -= older.held;
    chosen.push_back(&older);
  }
  if (held + more > options.bytes_in_flight) {
    return {};
  }
  Room room{.fits = true, .was_cut = false, .gone = {}};
  for (Member* older : chosen) {
    older->cut = true;
    set_held(*older, 0);
    room.gone.push_back(older->session);
  }
  return room;
}

void Hub::set_held(Member& member, std::size_t bytes) {
  bytes_held_ = bytes_held_ - member.held + bytes;
  member.held = bytes;
  note_sending(member);
}

void Hub::note_sending(Member& member) {
  const bool sends = member.held > 0 && member.turn != 0;
  if (sends && member.sending == 0) {
    member.sending = ++turns_;
    sending_.emplace(member.sending, member.session.get());
  } else if (!sends && member.sending != 0) {
    sending_.erase(std::exchange(member.sending, 0));
  }
}

void Hub::leave(Session* session) {
  std::shared_ptr<Session> last;  // destroyed after the lock is released
  const std::scoped_lock lock(mutex_);
  const auto found = sessions_.find(session);
  if (found != sessions_.end()) {
    forget(found->second);
    set_held(found->second, 0);
    last = std::move(found->second.session);
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
  for (const auto& [key, member] : sessions_) {
    all.push_back(member.session);
  }
  return all;
}

bool Hub::wait_until_empty(std::chrono::milliseconds grace) {
  std::unique_lock lock(mutex_);
  return emptied_.wait_for(lock, grace, [this] { return sessions_.empty(); });
}

}  // namespace millwright::net
