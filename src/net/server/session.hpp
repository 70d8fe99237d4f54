// One connection of the server. It runs on the thread of its worker only, so nothing is locked;
// other threads use the exchange's Outbox.
//
// Reading waits for readiness and then reads into the worker's buffers, so an idle connection
// (thousands of watches) holds no buffer of its own. Deadlines are real time, whatever clock the
// program's loop has: a socket knows no other.
#pragma once

#include "millwright/net/server.hpp"
#include "net/client/exchange.hpp"
#include "net/server/hub.hpp"
#include "net/server/request_parser.hpp"
#include "net/tls.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace millwright::net {

namespace asio = boost::asio;

class Session : public std::enable_shared_from_this<Session> {
 public:
  // The worker's io_context, without the cost of a type-erased executor.
  using Socket = asio::basic_stream_socket<asio::ip::tcp, asio::io_context::executor_type>;

  Session(std::shared_ptr<Hub> hub, std::shared_ptr<Worker> worker, Socket socket);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  asio::io_context& io() { return worker_->io; }
  // On the worker's thread:
  void start();
  void begin_stop();
  void close();
  // The bytes of a request that has come in part make room for others.
  void give_way();

 private:
  using Clock = asio::steady_timer::clock_type;
  using Deadline = std::optional<Clock::time_point>;
  enum class Phase { Receiving, Handling, Closing, Draining };

  void wait_readable();
  void on_readable();
  bool receive(std::string_view bytes);
  bool receive_encrypted(std::string_view bytes);
  void on_peer_end();
  void tell_handler_closed(Outbox& outbox, bool detach);
  void consume(std::string_view bytes);
  std::size_t parse(std::string_view bytes);
  void on_head();
  void dispatch();
  void call_handler(Request request, const std::shared_ptr<Outbox>& outbox);
  void refuse(int status, std::string_view text);
  bool fits();

  void pump();
  bool gather();
  void after_output();
  void end_exchange();
  void begin_close();

  static Deadline in(std::chrono::milliseconds delay) { return Clock::now() + delay; }
  void set_read_deadline(Deadline deadline);
  void set_write_deadline(Deadline deadline);
  void arm_timer();
  void on_timer();

  std::shared_ptr<Worker> worker_;  // first: the socket must go before it
  std::shared_ptr<Hub> hub_;
  Socket socket_;
  std::string peer_;  // its address
  asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, asio::io_context::executor_type>
      timer_;
  std::unique_ptr<TlsChannel> tls_;
  Phase phase_ = Phase::Receiving;
  bool waiting_ = false;  // a wait for readability is under way
  bool writing_ = false;
  bool closed_ = false;
  bool peer_ended_ = false;
  bool keep_alive_ = true;
  bool busy_ = false;          // a request came whole, and its answer is not sent yet
  bool input_unread_ = false;  // the peer is still sending something we will not read
  bool goodbye_said_ = false;
  std::unique_ptr<RequestParser> parser_;  // while a request arrives
  std::string inbox_;                      // received and not yet parsed
  std::string control_;                    // to be sent before the exchange's own output
  std::string wire_;                       // being sent
  std::shared_ptr<Outbox> outbox_;
  std::size_t answering_ = 0;  // bytes of the request that is being answered
  std::size_t held_ = 0;       // of the hub's bytes in flight
  Deadline read_deadline_;
  Deadline write_deadline_;
  Deadline timer_set_for_;
};

}  // namespace millwright::net
