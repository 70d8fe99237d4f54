// The sending half of a session, and its deadlines.
#include "net/server/session.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

namespace millwright::net {
namespace {

using boost::system::error_code;

// How much of an answer is encrypted and sent at a time.
constexpr std::size_t kSliceSize = 256U << 10;
// How long a refused peer may go on sending; closing at once would reset the connection and so
// take the refusal away from it.
constexpr std::chrono::milliseconds kDrainTime{2000};

}  // namespace

void Session::pump() {
  if (closed_) {
    return;
  }
  if (const char* reason = outbox_ ? outbox_->broken() : nullptr) {
    hub_->options.log.warn("connection cut", {{"reason", reason}});
    close();
    return;
  }
  if (writing_ || !gather()) {
    return;
  }
  if (wire_.empty()) {
    after_output();
    return;
  }
  writing_ = true;
  set_write_deadline(in(hub_->options.write_timeout));
  asio::async_write(socket_, asio::buffer(wire_),
                    [self = shared_from_this()](const error_code& ec, std::size_t /*size*/) {
                      self->writing_ = false;
                      self->wire_.clear();
                      self->set_write_deadline(std::nullopt);
                      if (ec) {
                        self->close();
                      } else {
                        self->pump();
                      }
                    });
}

// Fills the wire with what is to be sent next. False when the connection was cut.
bool Session::gather() {
  std::string plain = std::exchange(control_, {});
  if (phase_ == Phase::Handling && outbox_) {
    Outbox::Taken taken = outbox_->take(kSliceSize, keep_alive_ && !hub_->stopping());
    plain = plain.empty() ? std::move(taken.bytes) : plain + taken.bytes;
    if (taken.done) {
      keep_alive_ = taken.keep_alive;
      end_exchange();
    }
  }
  if (!tls_) {
    wire_ = std::move(plain);
    return true;
  }
  if (!plain.empty() && !tls_->write(plain)) {
    close();
    return false;
  }
  if (phase_ == Phase::Closing && !goodbye_said_) {
    goodbye_said_ = true;
    tls_->shut_down();
  }
  wire_ = tls_->take_output();
  return true;
}

// The exchange's last bytes are on the wire or about to be.
void Session::end_exchange() {
  std::exchange(outbox_, nullptr)->detach(false);
  answering_ = 0;
  fits();
  if (!keep_alive_ || hub_->stopping() || peer_ended_) {
    phase_ = Phase::Closing;
    return;
  }
  phase_ = Phase::Receiving;
  set_read_deadline(in(hub_->options.idle_timeout));
}

// Everything is sent.
void Session::after_output() {
  if (phase_ == Phase::Receiving && std::exchange(busy_, false)) {
    hub_->end_request(this);
  }
  if (phase_ == Phase::Closing) {
    if (!input_unread_ || peer_ended_) {
      close();
      return;
    }
    phase_ = Phase::Draining;
    error_code ignored;
    socket_.shutdown(Socket::shutdown_send, ignored);
    set_read_deadline(in(kDrainTime));
  } else if (phase_ == Phase::Receiving && peer_ended_) {
    close();
    return;
  } else if (phase_ == Phase::Receiving && !inbox_.empty() && !parser_) {
    // The next pipelined request. Through the queue, or a thousand of them would be a thousand
    // stack frames.
    asio::post(worker_->io, [self = shared_from_this()] {
      if (!self->closed_ && self->phase_ == Phase::Receiving) {
        self->consume({});
      }
      self->wait_readable();
    });
  }
  wait_readable();
}

void Session::begin_close() {
  phase_ = Phase::Closing;
  inbox_.clear();
  fits();
  pump();
}

// ---- deadlines

void Session::set_read_deadline(Deadline deadline) {
  read_deadline_ = deadline;
  arm_timer();
}

void Session::set_write_deadline(Deadline deadline) {
  write_deadline_ = deadline;
  arm_timer();
}

// The timer is moved only to an earlier time; firing too early is cheaper than a timer call for
// every request.
void Session::arm_timer() {
  Deadline next = read_deadline_;
  if (write_deadline_ && (!next || *write_deadline_ < *next)) {
    next = write_deadline_;
  }
  if (closed_ || !next || (timer_set_for_ && *timer_set_for_ <= *next)) {
    return;
  }
  timer_set_for_ = next;
  timer_.expires_at(*next);
  timer_.async_wait([weak = weak_from_this()](const error_code& ec) {
    if (const auto self = weak.lock(); self && !ec && !self->closed_) {
      self->timer_set_for_.reset();
      self->on_timer();
    }
  });
}

void Session::on_timer() {
  const auto now = Clock::now();
  if (write_deadline_ && *write_deadline_ <= now) {
    hub_->options.log.debug("connection cut: the peer does not read");
    close();
    return;
  }
  if (read_deadline_ && *read_deadline_ <= now) {
    read_deadline_.reset();
    if (phase_ == Phase::Receiving && parser_) {
      refuse(408, "the request took too long to arrive");
    } else if (phase_ == Phase::Receiving) {
      begin_close();
    } else {
      close();
    }
    return;
  }
  arm_timer();
}

}  // namespace millwright::net
