// The transport of real clusters: net's HTTP client plus credentials. A plugin may hand out client
// certificates; connections are then made anew with each.
#include "kube/config/credentials.hpp"
#include "millwright/kube/config.hpp"

#include <utility>

namespace millwright::kube {
namespace {

// API servers send a bookmark about once a minute: a watch silent for longer than this has lost
// its connection without either side being told.
constexpr std::chrono::seconds kSilentWatch{150};

class HttpsTransport final : public Transport {
 public:
  HttpsTransport(base::Loop& loop, Config config, base::Logger log, std::string user_agent)
      : loop_(loop),
        server_(config.server),
        tls_(config.tls),
        connections_(config.connections),
        user_agent_(std::move(user_agent)),
        credentials_(loop, std::move(config), std::move(log)) {}

  base::Task<base::Result<net::Response>> call(ApiRequest request, std::stop_token stop) override {
    for (bool first = true;; first = false) {
      auto credential = co_await credentials_.current(stop);
      MW_CO_CHECK(credential);
      const auto client = client_for(*credential);
      auto message = message_for(request, *credential);
      auto answer = co_await client->send(std::move(message), stop);
      const bool refused = answer && answer->status == 401;
      if (!first || !refused || !credentials_.refuse(credential->generation)) {
        co_return answer;
      }
    }
  }

  base::Task<base::Result<net::Response>> stream(ApiRequest request,
                                                 std::function<void(std::string_view)> on_chunk,
                                                 std::stop_token stop) override {
    for (bool first = true;; first = false) {
      auto credential = co_await credentials_.current(stop);
      MW_CO_CHECK(credential);
      const auto client = client_for(*credential);
      auto message = message_for(request, *credential);
      message.idle_timeout = kSilentWatch;
      auto answer = co_await client->stream(std::move(message), on_chunk, stop);
      const bool refused = answer && answer->status == 401;
      if (!first || !refused || !credentials_.refuse(credential->generation)) {
        co_return answer;
      }
    }
  }

 private:
  net::ClientRequest message_for(const ApiRequest& request, const Credential& credential) const {
    net::ClientRequest message;
    message.method = request.method;
    message.url = server_ + request.path;
    message.body = request.body;
    message.timeout = request.timeout;
    message.headers.set("Accept", "application/json");
    message.headers.set("User-Agent", user_agent_);
    if (!request.body.empty()) {
      message.headers.set("Content-Type", request.content_type);
    }
    if (!credential.authorization.empty()) {
      message.headers.set("Authorization", credential.authorization);
    }
    return message;
  }

  // Requests in progress keep the client that they began with.
  std::shared_ptr<net::Client> client_for(const Credential& credential) {
    const bool changed =
        !credential.certificate_pem.empty() &&
        (credential.certificate_pem != tls_.certificate_pem || credential.key_pem != tls_.key_pem);
    if (changed) {
      tls_.certificate_pem = credential.certificate_pem;
      tls_.key_pem = credential.key_pem;
    }
    if (changed || !client_) {
      client_ = net::make_client(loop_, tls_, connections_);
    }
    return client_;
  }

  base::Loop& loop_;
  std::string server_;
  net::ClientTls tls_;
  net::ClientOptions connections_;
  std::string user_agent_;
  Credentials credentials_;
  std::shared_ptr<net::Client> client_;
};

}  // namespace

std::unique_ptr<Transport> make_transport(base::Loop& loop, Config config, base::Logger log,
                                          std::string user_agent) {
  return std::make_unique<HttpsTransport>(loop, std::move(config), std::move(log),
                                          std::move(user_agent));
}

}  // namespace millwright::kube
