// A real HTTPS server on a free port and a real loop, for the transport's tests.
#pragma once

#include "fake_transport.hpp"
#include "millwright/certs/certs.hpp"
#include "millwright/kube/config.hpp"
#include "millwright/net/server.hpp"

#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace millwright::kube::test {

template <class T>
T must(base::Result<T> result) {
  if (!result) {
    throw std::runtime_error(result.error().message);
  }
  return *std::move(result);
}

struct Pki {
  certs::Validity validity{base::system_now() - 1h, base::system_now() + 24h};
  certs::KeyPair ca = must(certs::make_ca("test CA", validity));
  certs::KeyPair server =
      must(certs::make_leaf(ca, "server", {"kubernetes"}, {"127.0.0.1"}, validity));
  certs::KeyPair client = must(certs::make_client_leaf(ca, "me", {}, validity));
};

inline const Pki& pki() {
  static const Pki instance;
  return instance;
}

// Answers by `answer`, on an I/O thread; remembers what it was asked.
class RealServer {
 public:
  using Answer = std::function<void(const net::Request&, const std::shared_ptr<net::Exchange>&)>;

  explicit RealServer(Answer answer, bool wants_client_certificate = false) {
    net::TlsIdentity identity{.certificate_pem = pki().server.certificate_pem,
                              .key_pem = pki().server.key_pem,
                              .client_ca_pem = {}};
    if (wants_client_certificate) {
      identity.client_ca_pem = pki().ca.certificate_pem;
    }
    server_ = must(net::Server::start(
        {},
        [this, answer = std::move(answer)](net::Request request,
                                           std::shared_ptr<net::Exchange> exchange) {
          {
            const std::scoped_lock lock(mutex_);
            seen_.push_back(request);
          }
          answer(request, exchange);
        },
        identity));
  }
  ~RealServer() { server_->stop(1s); }
  RealServer(const RealServer&) = delete;
  RealServer& operator=(const RealServer&) = delete;

  Config config() const {
    Config config;
    config.server = "https://127.0.0.1:" + std::to_string(server_->port());
    config.tls.ca_pem = pki().ca.certificate_pem;
    return config;
  }
  std::vector<net::Request> seen() const {
    const std::scoped_lock lock(mutex_);
    return seen_;
  }
  std::vector<std::string> authorizations() const {
    std::vector<std::string> all;
    for (const auto& request : seen()) {
      all.emplace_back(request.headers.get("Authorization"));
    }
    return all;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<net::Request> seen_;
  std::unique_ptr<net::Server> server_;
};

// Accepts only the bearer token `token`.
inline RealServer::Answer wants_token(std::string token) {
  return [token = std::move(token)](const net::Request& request,
                                    const std::shared_ptr<net::Exchange>& exchange) {
    const bool good = request.headers.get("Authorization") == "Bearer " + token;
    exchange->respond(good ? ok({{"kind", "Pod"}})
                           : status_answer(401, "Unauthorized", "Unauthorized"));
  };
}

template <class T>
base::Task<void> store_and_stop(base::RealLoop& loop, base::Task<T> task, std::optional<T>& out) {
  auto value = co_await std::move(task);
  out.emplace(std::move(value));
  loop.stop();
}

// A loop whose run() ends with a task. The limit is only there so that a defect fails the test
// rather than hanging it.
class RealRun {
 public:
  base::RealLoop loop;

  template <class T>
  T operator()(base::Task<T> task) {
    std::optional<T> result;
    base::TaskGroup group(loop);
    group.spawn(store_and_stop(loop, std::move(task), result));
    loop.after(60s, [this] { loop.stop(); });
    loop.run();
    if (!result) {
      throw std::runtime_error("the task did not end in time");
    }
    return *std::move(result);
  }
};

}  // namespace millwright::kube::test
