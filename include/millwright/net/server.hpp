// The HTTP and HTTPS server, over Boost.Beast: TLS 1.2 or newer, HTTP/1.1 with keep-alive. Bodies,
// headers, connections, the bytes of all requests together and time are limited, so that a slow,
// endless or greedy sender costs little.
#pragma once

#include "millwright/base/log.hpp"
#include "millwright/base/result.hpp"
#include "millwright/net/http.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::net {

// A certificate chain and its key, PEM. An empty client_ca means that clients need no certificate.
struct TlsIdentity {
  std::string certificate_pem;
  std::string key_pem;
  std::string client_ca_pem;
};

// Answers one request. Call either respond() or start(), once, also after the handler has returned.
// Dropping the last reference without an answer sends 500. Thread-safe.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual void respond(Response response) = 0;
  // Begins a chunked answer (a watch). write() queues one chunk; when the peer reads too slowly
  // and more than the limit is queued, the connection is closed.
  virtual void start(int status, Headers headers) = 0;
  virtual void write(std::string chunk) = 0;
  virtual void finish() = 0;
  // `callback` runs once, on an I/O thread, when the peer is gone or the server stops; at once when
  // that has happened already. It does not run when the answer was sent completely.
  virtual void on_close(std::function<void()> callback) = 0;
  // The address of the caller, such as 10.0.0.7; empty where there is none.
  virtual std::string peer() const { return {}; }
};

// Runs on an I/O thread and must not block. An exception is logged and answered with 500.
using Handler = std::function<void(Request request, std::shared_ptr<Exchange> exchange)>;

// The longest prefix of whole path segments wins. A path that no prefix matches gets 404.
class Router {
 public:
  void add(std::string prefix, Handler handler);
  // For handlers that answer at once.
  void add_sync(std::string prefix, std::function<Response(const Request&)> handler);
  void handle(Request request, std::shared_ptr<Exchange> exchange) const;

 private:
  std::vector<std::pair<std::string, Handler>> routes_;
};

// For paths below the prefix, as Router matches them.
struct BodyLimit {
  std::string prefix;
  std::size_t bytes = 0;
};

// Why a server refused: a closed set, fit for the label of a metric.
namespace refusal {
inline constexpr std::string_view kMalformed = "malformed request";
inline constexpr std::string_view kTooLarge = "request too large";
inline constexpr std::string_view kTooSlow = "request too slow";
inline constexpr std::string_view kNoRoom = "too many bytes in flight";
inline constexpr std::string_view kConnections = "too many connections";
inline constexpr std::string_view kHandshake = "TLS handshake failed";
}  // namespace refusal

struct ServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // 0: any free port, see Server::port()
  bool tls = true;
  int threads = 1;
  // Of paths that no prefix of `body_limits` covers. A longer body is refused with 413.
  std::size_t body_limit = 8U << 20;
  std::vector<BodyLimit> body_limits;  // the longest prefix wins
  // Bytes of requests that all connections hold together, from their arrival until their answers
  // are sent. The first 64 KiB of each connection do not count, so that large requests never keep
  // out small ones. For what is beyond, the requests that began to arrive earlier and have not come
  // whole are refused with 503, the oldest first: who sends slowly holds up nobody. When these are
  // not enough, the newer one is refused. A request that has come whole is always answered.
  std::size_t bytes_in_flight = 256U << 20;
  std::chrono::milliseconds header_timeout{10'000};
  std::chrono::milliseconds body_timeout{30'000};
  std::chrono::milliseconds idle_timeout{120'000};
  std::chrono::milliseconds write_timeout{30'000};
  std::size_t stream_queue_limit = 64U << 20;
  // When so many are open, the one that has waited longest for a whole request is closed for a new
  // one: of those that never sent one while they are more than half of the limit, else of those
  // that did. When all requests are being answered, the new connection is refused.
  std::size_t max_connections = 4096;
  std::size_t max_connections_per_address = 4096;  // the same, among those of the address
  // May be empty. Hears of each request that was not served and of each connection that was closed
  // for another one; `reason` is one of those below. Runs on an I/O thread and must not block.
  std::function<void(std::string_view reason)> on_refusal;
  base::Logger log;
};

class Server {
 public:
  // Binds and begins to serve. The error names the address and says why it cannot be bound, or why
  // the identity cannot be read.
  static base::Result<std::unique_ptr<Server>> start(ServerOptions options, Handler handler,
                                                     TlsIdentity identity = {});
  virtual ~Server() = default;
  virtual std::uint16_t port() const = 0;
  // New connections use the new identity, existing ones keep theirs. An unreadable identity changes
  // nothing.
  virtual base::Result<> set_identity(TlsIdentity identity) = 0;
  // Accepts no more, closes streams and waits for other exchanges at most `grace`. Exchanges that
  // are still kept after that have no effect. Must not be called on an I/O thread.
  virtual void stop(std::chrono::milliseconds grace) = 0;
};

}  // namespace millwright::net
