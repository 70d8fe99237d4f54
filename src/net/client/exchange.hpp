// Connects the handler, which answers on any thread, with the session, which sends the answer piece
// by piece on its I/O thread. The queue between them is bounded, so that a peer that does not read
// costs no more than the limit.
#pragma once

#include "millwright/net/server.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace millwright::net {

// Status line and headers, with an empty line at the end. `framing` is Content-Length or
// Transfer-Encoding or nothing; the handler's own framing headers are left out.
std::string render_head(int status, const Headers& headers, std::string_view framing,
                        bool keep_alive);
// A whole small answer from the server itself, after which the connection closes.
std::string render_refusal(int status, std::string_view text);

// Thread-safe.
class Outbox {
 public:
  struct Traits {
    bool head_only = false;  // answer to HEAD
    bool chunked = true;     // HTTP/1.1; else a stream ends with its connection
    std::size_t queue_limit = 0;
  };
  // `wake` asks the session to call take(); it is called under the outbox' lock and must only post.
  Outbox(Traits traits, std::function<void()> wake);

  // The handler's side.
  void respond(Response response);
  void start(int status, Headers headers);
  void write(std::string chunk);
  void finish();
  void abandon();
  void on_close(std::function<void()> callback);

  // The session's side.
  struct Taken {
    std::string bytes;
    bool done = false;  // nothing will follow
    bool keep_alive = true;
  };
  // Why the connection must be cut (overflowed, or abandoned half-way); nullptr when all is well.
  const char* broken() const;
  // Up to about `limit` bytes of what is to be sent.
  Taken take(std::size_t limit, bool keep_alive);
  // While set, wake() is not called: the session looks by itself.
  void hold_wakes(bool hold);
  bool streaming() const;
  // Ends a stream in good order.
  void close_stream();
  // The peer is gone: tells the handler, once.
  void notify_closed();
  // The session will not look again. With `notify`, tells the handler.
  void detach(bool notify);

 private:
  void wake_locked();
  void break_locked(const char* reason);
  void take_head_locked(std::string& out, bool keep_alive);
  std::string take_payload_locked(std::size_t limit);

  mutable std::mutex mutex_;
  const Traits traits_;
  std::function<void()> wake_;
  bool wake_pending_ = false;
  bool begun_ = false;
  bool finished_ = false;
  bool streaming_ = false;
  bool head_taken_ = false;
  bool end_taken_ = false;
  bool detached_ = false;
  bool peer_gone_ = false;
  bool close_asked_ = false;
  const char* broken_ = nullptr;
  int status_ = 200;
  Headers headers_;
  std::deque<std::string> queue_;
  std::size_t queued_ = 0;
  std::size_t front_taken_ = 0;
  std::function<void()> on_close_;
};

// What the handler holds; its last reference going away is noticed.
std::shared_ptr<Exchange> make_exchange(std::shared_ptr<Outbox> outbox, std::string peer);

}  // namespace millwright::net
