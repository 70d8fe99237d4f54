// REST over HTTPS on loopback.
#include "millwright/base/base64.hpp"
#include "millwright/base/random.hpp"
#include "millwright/certs/certs.hpp"
#include "millwright/sandbox/api_server.hpp"

#include <boost/json.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace millwright::sandbox {

namespace {

class HttpsEndpoint final : public ApiEndpoint {
 public:
  HttpsEndpoint(ApiServer& server, std::string token, std::string ca)
      : gate_(std::make_shared<Gate>()), token_(std::move(token)), ca_(std::move(ca)) {
    gate_->server = &server;
  }
  ~HttpsEndpoint() override { stop(); }

  base::Result<> listen(net::ServerOptions options, net::TlsIdentity identity) {
    auto started = net::Server::start(
        std::move(options),
        [gate = gate_, loop = &gate_->server->loop(), bearer = "Bearer " + token_](
            net::Request request, std::shared_ptr<net::Exchange> exchange) {
          serve(gate, *loop, bearer, std::move(request), std::move(exchange));
        },
        std::move(identity));
    if (!started) {
      return tl::unexpected(std::move(started).error());
    }
    http_ = *std::move(started);
    return {};
  }

  std::string url() const override { return fmt::format("https://127.0.0.1:{}", http_->port()); }
  std::string ca_pem() const override { return ca_; }
  std::string token() const override { return token_; }

  std::string kubeconfig() const override {
    return fmt::format(
        "apiVersion: v1\nkind: Config\ncurrent-context: sandbox\n"
        "clusters:\n- name: sandbox\n  cluster:\n    server: {}\n"
        "    certificate-authority-data: {}\n"
        "users:\n- name: sandbox\n  user:\n    token: {}\n"
        "contexts:\n- name: sandbox\n  context:\n    cluster: sandbox\n    user: sandbox\n"
        "    namespace: default\n",
        url(), base::encode_base64(ca_), token_);
  }

  base::Result<> write_kubeconfig(const std::string& path) const override {
    const auto text = kubeconfig();
    // Owner only: the file holds a token.
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) {
      return base::fail(base::ErrorKind::Unavailable,
                        fmt::format("cannot write {}: {}", path, std::strerror(errno)));
    }
    const auto written = ::write(file, text.data(), text.size());
    const bool closed = ::close(file) == 0;
    if (written != static_cast<ssize_t>(text.size()) || !closed) {
      return base::fail(base::ErrorKind::Unavailable,
                        fmt::format("cannot write {}: {}", path, std::strerror(errno)));
    }
    return {};
  }

  void stop() override {
    gate_->server = nullptr;
    if (http_ != nullptr) {
      http_->stop(std::chrono::milliseconds(200));
      http_.reset();
    }
  }

 private:
  // Read and cleared on the loop only: requests still posted when the endpoint stops find it shut.
  struct Gate {
    ApiServer* server = nullptr;
  };

  static void serve(const std::shared_ptr<Gate>& gate, base::Loop& loop, const std::string& bearer,
                    net::Request request, std::shared_ptr<net::Exchange> exchange) {
    const bool is_health =
        request.path() == "/healthz" || request.path() == "/readyz" || request.path() == "/livez";
    if (!is_health && !net::is_same_secret(request.headers.get("Authorization"), bearer)) {
      exchange->respond(net::Response::json(
          401, R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
               R"("message":"Unauthorized","reason":"Unauthorized","code":401})"));
      return;
    }
    loop.post([gate, http = std::move(request), reply = std::move(exchange)]() mutable {
      if (gate->server != nullptr) {
        gate->server->handle(std::move(http), std::move(reply));
      }
    });
  }

  std::shared_ptr<Gate> gate_;
  std::string token_;
  std::string ca_;
  std::unique_ptr<net::Server> http_;
};

}  // namespace

base::Result<std::unique_ptr<ApiEndpoint>> ApiEndpoint::start(ApiServer& server, std::uint16_t port,
                                                              base::Logger log) {
  // Clients check certificates against the machine's clock, whatever time the loop is in.
  const auto now = base::system_now();
  const certs::Validity validity{now - std::chrono::hours(1), now + std::chrono::hours(24 * 365)};
  MW_TRY(ca, certs::make_ca("millwright sandbox", validity));
  MW_TRY(leaf, certs::make_leaf(ca, "kube-apiserver", {"localhost", "kubernetes.default.svc"},
                                {"127.0.0.1"}, validity));
  base::Random random(base::entropy_seed());
  auto endpoint = std::make_unique<HttpsEndpoint>(server, random.suffix(32), ca.certificate_pem);
  net::ServerOptions options;
  options.port = port;
  options.log = std::move(log);
  // Watches are quiet for long; their clients notice a dead peer by TCP.
  options.idle_timeout = std::chrono::minutes(30);
  auto listening = endpoint->listen(std::move(options), {leaf.certificate_pem, leaf.key_pem, {}});
  if (!listening) {
    return tl::unexpected(std::move(listening).error());
  }
  return endpoint;
}

}  // namespace millwright::sandbox
