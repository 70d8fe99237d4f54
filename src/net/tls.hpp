// TLS for the server as a state machine over OpenSSL: ciphertext in, plaintext out, and back. It
// touches no socket, so plain and encrypted connections share one session class, and a stream
// can be read and written at the same time without care for what TLS itself wants to send.
#pragma once

#include "millwright/base/result.hpp"
#include "millwright/net/server.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

using SSL = struct ssl_st;
using SSL_CTX = struct ssl_ctx_st;

namespace millwright::net {

// The settings of all connections made while it is current. Immutable; thread-safe.
class TlsContext {
 public:
  // Invalid says which part of the identity is unreadable or does not fit.
  static base::Result<std::shared_ptr<const TlsContext>> make(const TlsIdentity& identity);

 private:
  friend class TlsChannel;
  struct Free {
    void operator()(SSL_CTX* context) const;
  };
  std::unique_ptr<SSL_CTX, Free> context_;
};

// One connection's end of TLS. Not thread-safe.
class TlsChannel {
 public:
  enum class Status {
    Data,       // `size` bytes of plaintext
    Starved,    // needs more ciphertext
    Closed,     // the peer said goodbye
    PlainHttp,  // the peer speaks HTTP without TLS
    Failed,
  };
  struct Plain {
    Status status = Status::Starved;
    std::size_t size = 0;
  };

  explicit TlsChannel(const TlsContext& context);
  ~TlsChannel();
  TlsChannel(const TlsChannel&) = delete;
  TlsChannel& operator=(const TlsChannel&) = delete;

  // The next ciphertext. It must stay valid until read() says Starved (or ends).
  void feed(std::string_view ciphertext) { input_ = ciphertext; }
  Plain read(std::span<char> buffer);
  // False when the connection is beyond use.
  bool write(std::string_view plaintext);
  // Adds the goodbye to the output.
  void shut_down();
  // What is to be sent to the peer.
  std::string take_output() { return std::exchange(output_, {}); }
  bool has_output() const { return !output_.empty(); }
  // Why the channel failed, for the log.
  const std::string& failure() const { return failure_; }

 private:
  friend struct TlsBio;
  struct Free {
    void operator()(SSL* ssl) const;
  };
  std::string_view input_;
  std::string output_;
  std::string failure_;
  std::unique_ptr<SSL, Free> ssl_;
};

}  // namespace millwright::net
