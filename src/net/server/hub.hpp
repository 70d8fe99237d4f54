// What the sessions of one server share.
#pragma once

#include "millwright/net/server.hpp"
#include "net/tls.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace millwright::net {

class Session;

// One I/O thread's belongings. The buffers hold only what is being looked at right now.
struct Worker {
  static constexpr std::size_t kBufferSize = 128U << 10;
  boost::asio::io_context io{1};
  std::vector<char> received = std::vector<char>(kBufferSize);
  std::vector<char> decrypted = std::vector<char>(kBufferSize);
};

// Owns the open sessions and keeps the limits that they share. Thread-safe.
class Hub {
 public:
  using Address = boost::asio::ip::address;

  Hub(ServerOptions o, Handler h) : options(std::move(o)), handler(std::move(h)) {}

  const ServerOptions options;
  const Handler handler;

  void tell_refusal(std::string_view reason) const {
    if (options.on_refusal) {
      options.on_refusal(reason);
    }
  }

  std::shared_ptr<const TlsContext> tls() const;
  void set_tls(std::shared_ptr<const TlsContext> tls);
  struct Admission {
    bool admitted = false;          // no: the server is full or stopping
    std::shared_ptr<Session> goes;  // to be closed: it makes room for the new one
  };
  // A new session waits for a request.
  Admission admit(const std::shared_ptr<Session>& session, const Address& address);
  void leave(Session* session);
  // A whole request has come. False when the session was chosen to make room meanwhile: it ends
  // without an answer, as any idle connection may, and clients send the request on another one.
  bool begin_request(Session* session);
  // The session waits for its next request.
  void end_request(Session* session);
  struct Room {
    bool fits = false;                           // no: there are too many, and nothing changed
    bool was_cut = false;                        // its own bytes have made room before
    std::vector<std::shared_ptr<Session>> gone;  // to be refused: their bytes made room
  };
  // The session holds so many bytes of requests from now on. When they are too many with those of
  // all others, the sessions that began to send before this one and are still not done make room,
  // the oldest first: who sends slowly starves nobody who sends fast. One whose request has come
  // whole keeps its bytes until it is answered.
  Room hold(Session* session, std::size_t bytes);
  // No session is admitted from here on, and none kept after its exchange.
  void begin_stop();
  bool stopping() const { return stopping_; }
  std::vector<std::shared_ptr<Session>> sessions() const;
  // False when sessions are left after `grace`.
  bool wait_until_empty(std::chrono::milliseconds grace);

 private:
  struct Member {
    std::shared_ptr<Session> session;
    Address address;
    std::uint64_t turn = 0;     // in waiting_; 0: it has a request
    std::uint64_t sending = 0;  // in sending_; 0: it is not there
    std::size_t held = 0;       // of the bytes in flight
    bool cut = false;           // its bytes made room: what it sends is not read any more
    bool has_asked = false;     // a whole request came at least once
    bool counts = true;         // no: it was chosen to make room
  };
  using Members = std::map<Session*, Member>;
  // The one that makes room, among all addresses or those of one, of which there may be `limit`.
  Members::iterator longest_waiting(const Address* address, std::size_t limit);
  void wait(Member& member);
  void forget(Member& member);
  Room make_room(const Member& member, std::size_t more);
  void set_held(Member& member, std::size_t bytes);
  void note_sending(Member& member);

  mutable std::mutex mutex_;
  std::condition_variable emptied_;
  std::shared_ptr<const TlsContext> tls_;
  Members sessions_;
  std::map<std::uint64_t, Session*> waiting_;  // by turn: who waits longest comes first
  // By turn, those that hold bytes of a request that has not come whole. An idle connection is not
  // old here: its turn begins with the first byte that counts.
  std::map<std::uint64_t, Session*> sending_;
  std::uint64_t turns_ = 0;
  std::map<Address, std::size_t> by_address_;  // those that count
  std::size_t open_ = 0;                       // the same, of all addresses
  std::size_t bytes_held_ = 0;
  std::atomic<bool> stopping_ = false;
};

}  // namespace millwright::net
