// The HTTP and HTTPS server (Beast). One listener per Server; TLS 1.2 or newer; HTTP/1.1 with
// keep-alive. Bodies, headers and time are limited, so that a slow or endless sender costs little.
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

// The writing end of one exchange. Thread-safe; may be kept after the handler returned. Exactly
// one of respond() or start() is called; dropping the last reference unanswered answers 500.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual void respond(Response response) = 0;
  // Begins a chunked answer (a watch). write() queues one chunk; when the peer reads too slowly
  // and more than the limit is queued, the connection is closed.
  virtual void start(int status, Headers headers) = 0;
  virtual void write(std::string chunk) = 0;
  virtual void finish() = 0;
  // Called once, on an I/O thread, when the peer is gone or the server stops; at once when that
  // has happened already; never when the exchange ended in good order.
  virtual void on_close(std::function<void()> callback) = 0;
};

// Runs on an I/O thread; must not block. Exceptions are answered with 500 and logged.
using Handler = std::function<void(Request request, std::shared_ptr<Exchange> exchange)>;

// Longest matching path prefix on segment borders wins; others get 404.
class Router {
 public:
  void add(std::string prefix, Handler handler);
  // For handlers that answer at once.
  void add_sync(std::string prefix, std::function<Response(const Request&)> handler);
  void handle(Request request, std::shared_ptr<Exchange> exchange) const;

 private:
  std::vector<std::pair<std::string, Handler>> routes_;
};

struct ServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // 0: any free port, see Server::port()
  bool tls = true;
  int threads = 1;
  std::size_t body_limit = 8U << 20;
  std::chrono::milliseconds header_timeout{10'000};
  std::chrono::milliseconds body_timeout{30'000};
  std::chrono::milliseconds idle_timeout{120'000};
  std::chrono::milliseconds write_timeout{30'000};
  std::size_t stream_queue_limit = 64U << 20;
  std::size_t max_connections = 4096;
  base::Logger log;
};

class Server {
 public:
  // Binds and begins to serve. Fails with the address and the reason when it cannot bind or the
  // identity is unreadable.
  static base::Result<std::unique_ptr<Server>> start(ServerOptions options, Handler handler,
                                                     TlsIdentity identity = {});
  virtual ~Server() = default;
  virtual std::uint16_t port() const = 0;
  // New connections use the new identity; existing ones go on. Keeps the old one on failure.
  virtual base::Result<> set_identity(TlsIdentity identity) = 0;
  // Stops accepting, waits for exchanges in progress (streams are closed) up to `grace`. Not to be
  // called on an I/O thread. Exchanges kept beyond may still be used, to no effect.
  virtual void stop(std::chrono::milliseconds grace) = 0;
};

}  // namespace millwright::net
