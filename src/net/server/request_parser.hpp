// Turns bytes into one Request, within limits. No I/O and no clock: the session feeds it, tests
// could too. Beast does the grammar; its templates stay in request_parser.cpp.
#pragma once

#include "millwright/net/server.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace millwright::net {

// Start line and headers together.
inline constexpr std::size_t kHeaderLimit = 32U << 10;
// Each is kept as two strings, which take more memory than a short field took on the wire, and
// which no budget counts.
inline constexpr std::size_t kFieldLimit = 100;

class RequestParser {
 public:
  struct Failure {
    int status = 400;  // what to answer before closing
    std::string reason;
  };

  // `by_path` outlives the parser; see ServerOptions.
  explicit RequestParser(std::size_t body_limit, std::span<const BodyLimit> by_path = {});
  ~RequestParser();

  // Consumes as much of `bytes` as it can and returns how much; the rest must be offered again,
  // followed by more. Not to be called when done() or failure().
  std::size_t put(std::string_view bytes);

  bool has_head() const;
  bool done() const;
  const std::optional<Failure>& failure() const;
  // The client waits for "100 Continue" before it sends the body.
  bool expects_continue() const;
  bool is_http_1_1() const;
  bool keep_alive() const;
  // How much of the body has come.
  std::size_t body_size() const;

  // Once, when done().
  Request take();

 private:
  class Grammar;
  std::unique_ptr<Grammar> grammar_;
};

}  // namespace millwright::net
