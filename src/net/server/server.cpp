#include "millwright/net/server.hpp"

#include "net/server/addresses.hpp"
#include "net/server/session.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <thread>

namespace millwright::net {
namespace {

using base::ErrorKind;
using base::fail;
using base::Result;
using boost::system::error_code;
using tcp = asio::ip::tcp;

// How long not to accept after accepting failed (usually: no file descriptor left).
constexpr std::chrono::milliseconds kAcceptPause{100};

// A credential plugin or shell that outlived us must not keep our port.
void keep_from_children(int descriptor) {
  ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

std::vector<std::shared_ptr<Worker>> make_workers(int count) {
  std::vector<std::shared_ptr<Worker>> workers;
  do {
    workers.push_back(std::make_shared<Worker>());
  } while (--count > 0);
  return workers;
}

class ServerImpl final : public Server {
 public:
  explicit ServerImpl(std::shared_ptr<Hub> hub)
      : hub_(std::move(hub)),
        workers_(make_workers(hub_->options.threads)),
        acceptor_(workers_.front()->io),
        pause_(workers_.front()->io) {}
  ~ServerImpl() override { stop(std::chrono::milliseconds(0)); }
  ServerImpl(const ServerImpl&) = delete;
  ServerImpl& operator=(const ServerImpl&) = delete;

  Result<> listen();
  void run();

  std::uint16_t port() const override { return port_; }
  Result<> set_identity(TlsIdentity identity) override;
  void stop(std::chrono::milliseconds grace) override;

 private:
  error_code open(const asio::ip::address& address);
  void accept();
  void admit(Session::Socket socket, const std::shared_ptr<Worker>& worker);
  static void run_worker(Worker& worker, const base::Logger& log);
  template <class Action>
  void for_each_session(Action action) const;

  std::shared_ptr<Hub> hub_;
  std::vector<std::shared_ptr<Worker>> workers_;
  std::vector<asio::executor_work_guard<asio::io_context::executor_type>> guards_;
  asio::basic_socket_acceptor<tcp, asio::io_context::executor_type> acceptor_;
  asio::steady_timer pause_;
  std::vector<std::thread> threads_;
  std::size_t next_worker_ = 0;
  std::uint16_t port_ = 0;
  std::mutex stop_mutex_;
  bool stopped_ = false;
};

Result<> ServerImpl::listen() {
  const auto& options = hub_->options;
  const std::string port = std::to_string(options.port);
  error_code ec;
  auto address = asio::ip::make_address(options.address, ec);
  if (ec) {
    return fail(ErrorKind::Invalid, "cannot listen on " + options.address + ":" + port +
                                        ": the address must be an IP address such as 0.0.0.0");
  }
  ec = open(address);
  if (const auto other = without_ipv6(address, ec, acceptor_.is_open())) {
    options.log.info("there is no IPv6 here, listening on IPv4 alone",
                     {{"port", port}, {"error", ec.message()}});
    address = *other;
    ec = open(address);
  }
  if (ec) {
    const auto text = address.to_string();
    return fail(ErrorKind::Unavailable, "cannot listen on " +
                                            (address.is_v6() ? "[" + text + "]" : text) + ":" +
                                            port + ": " + ec.message());
  }
  return {};
}

error_code ServerImpl::open(const asio::ip::address& address) {
  const tcp::endpoint endpoint(address, hub_->options.port);
  error_code ec;
  if (acceptor_.is_open()) {
    acceptor_.close(ec);  // of an attempt that failed half-way
  }
  acceptor_.open(endpoint.protocol(), ec);
  if (!ec) {
    keep_from_children(acceptor_.native_handle());
    acceptor_.set_option(asio::socket_base::reuse_address(true), ec);
  }
  if (!ec && address.is_v6()) {
    acceptor_.set_option(asio::ip::v6_only(false), ec);
  }
  if (!ec) {
    acceptor_.bind(endpoint, ec);
  }
  if (!ec) {
    acceptor_.listen(asio::socket_base::max_listen_connections, ec);
  }
  if (!ec) {
    port_ = acceptor_.local_endpoint(ec).port();
  }
  return ec;
}

void ServerImpl::run() {
  for (const auto& worker : workers_) {
    guards_.emplace_back(worker->io.get_executor());
  }
  asio::post(workers_.front()->io, [this] { accept(); });
  for (const auto& worker : workers_) {
    threads_.emplace_back([worker, hub = hub_] { run_worker(*worker, hub->options.log); });
  }
}

void ServerImpl::run_worker(Worker& worker, const base::Logger& log) {
  while (true) {
    try {
      worker.io.run();
      return;
    } catch (const std::exception& error) {
      log.error("an I/O callback threw", {{"error", error.what()}});
    }
  }
}

void ServerImpl::accept() {
  const auto worker = workers_[next_worker_++ % workers_.size()];
  acceptor_.async_accept(worker->io, [this, worker](const error_code& ec, Session::Socket socket) {
    if (!acceptor_.is_open()) {
      return;
    }
    if (!ec || ec == asio::error::connection_aborted) {
      accept();  // first: whatever happens to this one, the next is welcome
      if (!ec) {
        admit(std::move(socket), worker);
      }
      return;
    }
    hub_->options.log.warn("cannot accept connections", {{"error", ec.message()}});
    pause_.expires_after(kAcceptPause);
    pause_.async_wait([this](const error_code& cancelled) {
      if (!cancelled && acceptor_.is_open()) {
        accept();
      }
    });
  });
}

void ServerImpl::admit(Session::Socket socket, const std::shared_ptr<Worker>& worker) {
  keep_from_children(socket.native_handle());
  error_code gone;
  const auto peer = socket.remote_endpoint(gone);
  if (gone) {
    return;
  }
  auto session = std::make_shared<Session>(hub_, worker, std::move(socket));
  const auto address = plain_address(peer.address());
  const auto [admitted, goes] = hub_->admit(session, address);
  if (!admitted || goes) {
    hub_->tell_refusal(refusal::kConnections);
  }
  if (!admitted) {
    hub_->options.log.debug("connection refused: too many are open",
                            {{"address", address.to_string()}});
    return;
  }
  if (goes) {
    asio::post(goes->io(), [goes = goes] { goes->close(); });
  }
  asio::post(worker->io, [session] { session->start(); });
}

Result<> ServerImpl::set_identity(TlsIdentity identity) {
  if (!hub_->options.tls) {
    return fail(ErrorKind::Invalid, "the server on port " + std::to_string(port_) +
                                        " speaks plain HTTP and has no identity to change");
  }
  auto made = TlsContext::make(identity);
  if (!made) {
    return tl::unexpected(std::move(made).error());
  }
  hub_->set_tls(*std::move(made));
  return {};
}

template <class Action>
void ServerImpl::for_each_session(Action action) const {
  for (const auto& session : hub_->sessions()) {
    asio::post(session->io(), [session, action] { action(*session); });
  }
}

void ServerImpl::stop(std::chrono::milliseconds grace) {
  const std::scoped_lock lock(stop_mutex_);
  if (stopped_) {
    return;
  }
  stopped_ = true;
  hub_->begin_stop();
  asio::post(workers_.front()->io, [this] {
    error_code ignored;
    acceptor_.close(ignored);
    pause_.cancel();
  });
  for_each_session([](Session& session) { session.begin_stop(); });
  if (!threads_.empty() && !hub_->wait_until_empty(grace)) {
    for_each_session([](Session& session) { session.close(); });
  }
  // With the guards gone, each thread ends when its last session has.
  guards_.clear();
  for (auto& thread : threads_) {
    thread.join();
  }
}

}  // namespace

Result<std::unique_ptr<Server>> Server::start(ServerOptions options, Handler handler,
                                              TlsIdentity identity) {
  const bool tls = options.tls;
  auto hub = std::make_shared<Hub>(std::move(options), std::move(handler));
  if (tls) {
    auto made = TlsContext::make(identity);
    if (!made) {
      return tl::unexpected(std::move(made).error());
    }
    hub->set_tls(*std::move(made));
  }
  auto server = std::make_unique<ServerImpl>(std::move(hub));
  auto listening = server->listen();
  if (!listening) {
    return tl::unexpected(std::move(listening).error());
  }
  server->run();
  return server;
}

}  // namespace millwright::net
