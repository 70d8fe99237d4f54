// What the sessions of one server share.
#pragma once

#include "millwright/net/server.hpp"
#include "net/tls.hpp"

#include <boost/asio/io_context.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
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

// Owns the open sessions. Thread-safe.
class Hub {
 public:
  Hub(ServerOptions o, Handler h) : options(std::move(o)), handler(std::move(h)) {}

  const ServerOptions options;
  const Handler handler;

  std::shared_ptr<const TlsContext> tls() const;
  void set_tls(std::shared_ptr<const TlsContext> tls);
  // False when the server is full or stopping.
  bool admit(const std::shared_ptr<Session>& session);
  void leave(Session* session);
  // No session is admitted from here on, and none kept after its exchange.
  void begin_stop();
  bool stopping() const { return stopping_; }
  std::vector<std::shared_ptr<Session>> sessions() const;
  // False when sessions are left after `grace`.
  bool wait_until_empty(std::chrono::milliseconds grace);

 private:
  mutable std::mutex mutex_;
  std::condition_variable emptied_;
  std::shared_ptr<const TlsContext> tls_;
  std::map<Session*, std::shared_ptr<Session>> sessions_;
  std::atomic<bool> stopping_ = false;
};

}  // namespace millwright::net
