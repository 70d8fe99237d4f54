// What the tests of this room share: raw sockets that say exactly what is on the wire, a server
// with a handler, identities, and a loop to run tasks on.
#pragma once

#include "millwright/base/task.hpp"
#include "millwright/certs/certs.hpp"
#include "millwright/net/client.hpp"
#include "millwright/net/server.hpp"

#include <openssl/ssl.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::net::test {

// Long enough never to be met by a test that passes.
inline constexpr std::chrono::seconds kPatience{20};

// A blocking TCP connection to 127.0.0.1. Reading ends (with a test failure) after kPatience.
class Wire {
 public:
  explicit Wire(std::uint16_t port, int receive_buffer = 0);
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  int fd() const { return fd_; }
  // False when the peer has closed.
  bool send(std::string_view bytes) const;
  // Everything up to and including `end`; what came until then when the peer closes first.
  std::string read_until(std::string_view end);
  // One whole answer with a Content-Length.
  std::string read_answer();
  // Everything until the peer closes.
  std::string read_all();
  // Something has come that was not read yet.
  bool readable() const;
  void finish_sending() const;
  void reset();  // closes so that the peer gets a reset
  void close();

 private:
  bool receive();
  int fd_ = -1;
  std::string buffer_;
};

// TLS over a Wire, for what a well-behaved client would not do.
class TlsWire {
 public:
  struct Options {
    int min_version = TLS1_2_VERSION;
    int max_version = TLS1_3_VERSION;
    std::vector<std::string> alpn;
    certs::KeyPair client;
  };
  TlsWire(std::uint16_t port, const Options& options);
  ~TlsWire();
  TlsWire(const TlsWire&) = delete;
  TlsWire& operator=(const TlsWire&) = delete;

  bool connected() const { return connected_; }
  std::string version() const;
  std::string alpn() const;
  // Sends a GET and returns the answer up to the end of its head; empty on failure.
  std::string get(const std::string& path);
  std::string peer_serial() const;

 private:
  Wire wire_;
  SSL_CTX* context_;
  SSL* ssl_;
  bool connected_ = false;
};

// Requests as they are on the wire.
inline constexpr const char* kGet = "GET /x HTTP/1.1\r\nHost: h\r\n\r\n";
std::string post(const std::string& body);

// A CA and what it signed, made once per process.
struct Identities {
  certs::KeyPair ca;
  certs::KeyPair other_ca;
  certs::KeyPair server;   // for localhost and 127.0.0.1
  certs::KeyPair renewed;  // the same names, another key
  certs::KeyPair client;
  certs::KeyPair foreign_client;  // signed by other_ca
};
const Identities& identities();
TlsIdentity server_identity(const std::string& client_ca = {});

// A server on a free port. Handlers get the request and the exchange.
class Site {
 public:
  explicit Site(Handler handler, ServerOptions options = plain(), TlsIdentity identity = {});
  static ServerOptions plain();
  static ServerOptions tls();

  Server& server() { return *server_; }
  std::uint16_t port() const { return server_->port(); }
  std::string url(const std::string& path = "/") const;
  void destroy() { server_.reset(); }

 private:
  bool tls_;
  std::unique_ptr<Server> server_;
};
// Fails the test when a new connection is not answered.
void expect_alive(const Site& site);
Handler echo();  // answers with the body; header X-Seen has the method and target

// Something that happens on another thread and is waited for.
class Event {
 public:
  void set();
  bool is_set() const;
  // False after kPatience.
  bool wait();
  bool wait_for(const std::function<bool()>& condition);

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool set_ = false;
};

// Runs `task` on a RealLoop on this thread until it is over.
void run_on(base::RealLoop& loop, base::Task<void> task);

// A TCP peer of the tests' own: `serve` is called with each connection's descriptor.
class FakePeer {
 public:
  explicit FakePeer(std::function<void(int)> serve);
  ~FakePeer();
  FakePeer(const FakePeer&) = delete;
  FakePeer& operator=(const FakePeer&) = delete;
  std::uint16_t port() const { return port_; }
  std::string url(const std::string& path = "/") const;

 private:
  struct State;
  std::shared_ptr<State> state_;
  std::uint16_t port_ = 0;
};
// Reads one request head from a descriptor; false when the peer closed.
bool read_head(int fd, std::string* head = nullptr);
void write_all(int fd, std::string_view bytes);
// Waits until the peer of `fd` is gone.
void wait_for_end(int fd);

}  // namespace millwright::net::test
