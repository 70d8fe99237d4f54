// One connection of an attacker, who may leave it in any state: after the first bytes of a
// handshake, in the middle of a body, open for ever. Blocks, but never for longer than kPatience.
// A line is for one thread; a CallerTls may be shared. Threads that use lines block SIGPIPE.
#pragma once

#include "millwright/base/result.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

using SSL = struct ssl_st;
using SSL_CTX = struct ssl_ctx_st;

namespace millwright::plane {

// How a caller speaks TLS: he believes any server, and shows a certificate or none.
class CallerTls {
 public:
  // Texts in PEM; both empty: no certificate. Invalid: they cannot be used.
  static base::Result<CallerTls> make(const std::string& certificate_pem,
                                      const std::string& key_pem);

 private:
  friend class Line;
  struct Free {
    void operator()(SSL_CTX* context) const;
  };
  std::unique_ptr<SSL_CTX, Free> context_;
};

class Line {
 public:
  static constexpr std::chrono::seconds kPatience{2};

  // Connects to 127.0.0.1 from another address of loopback, such as "127.0.2.1". `tls` nullptr: the
  // port is plain. nullptr: nobody took the connection.
  static std::unique_ptr<Line> open(const std::string& from, int port, const CallerTls* tls);
  ~Line();
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  // Says hello and does not wait for the answer; nothing else can be done with the line then. On a
  // plain port: half a request's first line.
  void half_open();
  // False when the server refused. The server's verdict on a certificate comes later: with TLS 1.3
  // the client is done before the server has looked at it.
  bool shake_hands();
  // False when the server has gone, or took nothing for kPatience.
  bool send(std::string_view text);
  // The status of the answer; 0 when none comes.
  int read_status();

 private:
  Line(int socket, SSL* tls) : socket_(socket), tls_(tls) {}
  long write_some(std::string_view text);
  long read_some(char* into, std::size_t size);

  int socket_;
  SSL* tls_;  // nullptr: plain
};

}  // namespace millwright::plane
