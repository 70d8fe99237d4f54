#include "net/server/session.hpp"

#include "net/server/addresses.hpp"

#include <boost/asio/post.hpp>
#include <netinet/tcp.h>

#include <algorithm>

namespace millwright::net {
namespace {

using boost::system::error_code;

// How much a peer may send ahead (pipelining) before it is no longer read.
constexpr std::size_t kInboxLimit = 64U << 10;
// More than this without a byte the grammar can use (an endless chunk extension) is an attack.
constexpr std::size_t kUnparsedLimit = kHeaderLimit + Worker::kBufferSize;
// Bytes of requests that every connection may hold, whatever the others do: enough for a usual
// request of kube-scheduler.
constexpr std::size_t kUncounted = 64U << 10;
// One connection must not keep its thread to itself.
constexpr int kReadsInARow = 4;

// A watch may be silent for hours; a peer whose machine is gone must not hold it for longer than
// about two minutes.
void find_dead_peers(int socket) {
  const auto set = [socket](int level, int option, int value) {
    ::setsockopt(socket, level, option, &value, sizeof(value));
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 60);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 15);
  set(IPPROTO_TCP, TCP_KEEPCNT, 4);
}

std::string_view reason_of(int status) {
  switch (status) {
    case 408:
      return refusal::kTooSlow;
    case 413:
    case 431:
      return refusal::kTooLarge;
    case 503:
      return refusal::kNoRoom;
    default:
      return refusal::kMalformed;
  }
}

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace

Session::Session(std::shared_ptr<Hub> hub, std::shared_ptr<Worker> worker, Socket socket)
    : worker_(std::move(worker)),
      hub_(std::move(hub)),
      socket_(std::move(socket)),
      timer_(worker_->io) {
  if (hub_->options.tls) {
    tls_ = std::make_unique<TlsChannel>(*hub_->tls());
  }
}

void Session::start() {
  error_code ignored;
  if (const auto peer = socket_.remote_endpoint(ignored); !ignored) {
    peer_ = plain_address(peer.address()).to_string();
  }
  socket_.non_blocking(true, ignored);
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  find_dead_peers(socket_.native_handle());
  // Covers the handshake and the first request's head.
  set_read_deadline(in(hub_->options.header_timeout));
  wait_readable();
}

void Session::close() {
  if (closed_) {
    return;
  }
  closed_ = true;
  error_code ignored;
  timer_.cancel();
  socket_.close(ignored);
  if (const auto outbox = std::exchange(outbox_, nullptr)) {
    tell_handler_closed(*outbox, true);
  }
  hub_->leave(this);
}

void Session::give_way() {
  if (closed_ || phase_ != Phase::Receiving) {
    return;
  }
  hub_->options.log.warn("connection cut",
                         {{"reason", "its request came more slowly than others that need the room"},
                          {"bytes", std::to_string(parser_ ? parser_->body_size() : 0)}});
  refuse(503, "this request came too slowly and made room for others; try again later");
}

void Session::tell_handler_closed(Outbox& outbox, bool detach) {
  try {
    detach ? outbox.detach(true) : outbox.notify_closed();
  } catch (const std::exception& error) {
    hub_->options.log.error("a close callback threw", {{"error", error.what()}});
  }
}

void Session::begin_stop() {
  if (closed_) {
    return;
  }
  if (outbox_ && outbox_->streaming()) {
    outbox_->close_stream();
    tell_handler_closed(*outbox_, false);
    pump();
  } else if (phase_ == Phase::Receiving && !parser_) {
    begin_close();
  }
}

void Session::wait_readable() {
  const bool full = phase_ == Phase::Handling && inbox_.size() > kInboxLimit;
  if (waiting_ || closed_ || peer_ended_ || full) {
    return;
  }
  waiting_ = true;
  socket_.async_wait(Socket::wait_read, [self = shared_from_this()](const error_code& ec) {
    self->waiting_ = false;
    if (self->closed_) {
      return;
    }
    if (ec) {
      self->close();
      return;
    }
    try {
      self->on_readable();
    } catch (const std::exception& error) {
      self->hub_->options.log.error("a connection failed", {{"error", error.what()}});
      self->close();
    }
  });
}

void Session::on_readable() {
  auto& buffer = worker_->received;
  for (int i = 0; i < kReadsInARow; ++i) {
    error_code ec;
    const std::size_t n = socket_.read_some(asio::buffer(buffer), ec);
    if (ec == asio::error::would_block || ec == asio::error::try_again) {
      break;
    }
    if (ec == asio::error::eof) {
      peer_ended_ = true;
      on_peer_end();
      return;
    }
    if (ec) {
      close();
      return;
    }
    if (!receive({buffer.data(), n})) {
      return;
    }
    if (n < buffer.size()) {
      break;
    }
  }
  wait_readable();
}

// False when reading is over.
bool Session::receive(std::string_view bytes) {
  if (phase_ == Phase::Draining) {
    return true;
  }
  if (tls_) {
    return receive_encrypted(bytes);
  }
  consume(bytes);
  return !closed_;
}

bool Session::receive_encrypted(std::string_view bytes) {
  tls_->feed(bytes);
  while (!closed_) {
    const TlsChannel::Plain plain = tls_->read(worker_->decrypted);
    if (plain.status == TlsChannel::Status::Data) {
      consume({worker_->decrypted.data(), plain.size});
      continue;
    }
    if (plain.status == TlsChannel::Status::Closed) {
      peer_ended_ = true;
      on_peer_end();
      return false;
    }
    if (plain.status == TlsChannel::Status::PlainHttp) {
      tls_.reset();
      refuse(400, "this port speaks HTTPS; the request came without TLS");
      return true;
    }
    if (plain.status == TlsChannel::Status::Failed) {
      hub_->options.log.debug("TLS failed", {{"error", tls_->failure()}});
      hub_->tell_refusal(refusal::kHandshake);
      // The alert, if there is one, tells the peer why.
      parser_.reset();
      outbox_ ? close() : begin_close();
      return false;
    }
    pump();  // what the handshake wants to send
    return !closed_;
  }
  return false;
}

void Session::on_peer_end() {
  const bool answering = phase_ == Phase::Handling && outbox_ && !outbox_->streaming();
  const bool sending = writing_ && phase_ != Phase::Draining;
  if (answering) {
    // A half-closed peer may still read: the handler decides whether its answer has a point.
    tell_handler_closed(*outbox_, false);
  } else if (!sending || phase_ == Phase::Handling) {
    close();
  }
}

void Session::consume(std::string_view bytes) {
  if (phase_ == Phase::Closing || phase_ == Phase::Draining) {
    return;
  }
  if (phase_ == Phase::Handling) {
    inbox_.append(bytes);
    fits();
    return;
  }
  if (inbox_.empty()) {
    const std::size_t used = parse(bytes);
    inbox_.assign(bytes.substr(std::min(used, bytes.size())));
  } else {
    inbox_.append(bytes);
    const std::size_t used = parse(inbox_);
    inbox_.erase(0, used);
  }
  if (phase_ == Phase::Receiving && inbox_.size() > kUnparsedLimit) {
    refuse(400, "malformed request: no end of a line in sight");
  } else {
    fits();
  }
}

// Holds as many of the hub's bytes in flight as there are bytes of requests here. False, and the
// connection ends, when there are too many.
bool Session::fits() {
  if (closed_) {
    return false;
  }
  const std::size_t size = inbox_.size() + answering_ + (parser_ ? parser_->body_size() : 0);
  const std::size_t wanted = size - std::min(size, kUncounted);
  if (wanted == held_) {
    return true;
  }
  const Hub::Room room = hub_->hold(this, wanted);
  for (const auto& other : room.gone) {
    asio::post(other->io(), [other] { other->give_way(); });
  }
  if (!room.fits) {
    if (room.was_cut && phase_ == Phase::Receiving) {
      give_way();
    } else if (phase_ == Phase::Receiving) {
      refuse(503, "the requests under way are too large together; try again later");
    } else {
      hub_->tell_refusal(refusal::kNoRoom);
      close();
    }
    return false;
  }
  held_ = wanted;
  return true;
}

std::size_t Session::parse(std::string_view bytes) {
  std::size_t used = 0;
  if (!parser_) {
    // An empty line before a request is allowed.
    used = std::min(bytes.find_first_not_of("\r\n"), bytes.size());
    if (used == bytes.size()) {
      return used;
    }
    parser_ = std::make_unique<RequestParser>(hub_->options.body_limit, hub_->options.body_limits);
    set_read_deadline(in(hub_->options.header_timeout));
  }
  const bool had_head = parser_->has_head();
  used += parser_->put(bytes.substr(used));
  if (const auto& failure = parser_->failure()) {
    refuse(failure->status, failure->reason);
    return bytes.size();
  }
  if (!fits()) {
    return bytes.size();
  }
  if (!had_head && parser_->has_head() && !parser_->done()) {
    on_head();
  }
  if (parser_->done()) {
    dispatch();
  }
  return used;
}

void Session::on_head() {
  set_read_deadline(in(hub_->options.body_timeout));
  if (parser_->expects_continue() && parser_->is_http_1_1()) {
    control_ += kContinue;
    pump();
  }
}

void Session::dispatch() {
  if (!hub_->begin_request(this)) {
    close();
    return;
  }
  busy_ = true;
  set_read_deadline(std::nullopt);
  phase_ = Phase::Handling;
  const bool http_1_1 = parser_->is_http_1_1();
  keep_alive_ = http_1_1 && parser_->keep_alive();
  answering_ = parser_->body_size();
  Request request = parser_->take();
  parser_.reset();
  outbox_ =
      std::make_shared<Outbox>(Outbox::Traits{.head_only = request.method == "HEAD",
                                              .chunked = http_1_1,
                                              .queue_limit = hub_->options.stream_queue_limit},
                               [weak = weak_from_this()] {
                                 if (const auto self = weak.lock()) {
                                   asio::post(self->worker_->io, [self] { self->pump(); });
                                 }
                               });
  const auto outbox = outbox_;
  outbox->hold_wakes(true);
  call_handler(std::move(request), outbox);
  outbox->hold_wakes(false);
  pump();
}

void Session::call_handler(Request request, const std::shared_ptr<Outbox>& outbox) {
  const std::string path(request.path());
  const auto exchange = make_exchange(outbox, peer_);
  try {
    hub_->handler(std::move(request), exchange);
  } catch (const std::exception& error) {
    hub_->options.log.error("a request handler threw", {{"path", path}, {"error", error.what()}});
    exchange->respond(Response::text(500, "internal error\n"));
  } catch (...) {
    hub_->options.log.error("a request handler threw", {{"path", path}});
    exchange->respond(Response::text(500, "internal error\n"));
  }
}

// Answers a request that cannot be served and ends the connection.
void Session::refuse(int status, std::string_view text) {
  hub_->options.log.debug("request refused",
                          {{"status", std::to_string(status)}, {"reason", std::string(text)}});
  hub_->tell_refusal(reason_of(status));
  control_ += render_refusal(status, text);
  parser_.reset();  // `text` may be its own
  input_unread_ = true;
  begin_close();
}

}  // namespace millwright::net
