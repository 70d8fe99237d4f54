#include "app/console/console_door.hpp"

#include "app/console/console_feed.hpp"
#include "app/console/console_routes.hpp"
#include "app/serving/serving.hpp"

#include <sys/random.h>

#include <array>
#include <cstdio>
#include <utility>

namespace millwright::app {
namespace {

base::Result<std::string> make_secret() {
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return base::fail(base::ErrorKind::Internal, "the system gives no random bytes");
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 0xFU];
  }
  return text;
}

// In the same time wherever they differ.
bool is_same_secret(std::string_view given, std::string_view secret) {
  unsigned difference = given.size() == secret.size() ? 0 : 1;
  for (std::size_t i = 0; i < secret.size() && i < given.size(); ++i) {
    difference |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(secret[i]);
  }
  return difference == 0;
}

bool is_loopback(std::string_view host) {
  const auto name = host.substr(0, host.rfind(':'));
  return name == "127.0.0.1" || name == "localhost";
}

// Whatever is answered, the browser is told its limits.
class RestrictedExchange final : public net::Exchange {
 public:
  explicit RestrictedExchange(std::shared_ptr<net::Exchange> to) : to_(std::move(to)) {}
  void respond(net::Response response) override {
    restrict_browser(response.headers);
    to_->respond(std::move(response));
  }
  void start(int status, net::Headers headers) override {
    restrict_browser(headers);
    to_->start(status, std::move(headers));
  }
  void write(std::string chunk) override { to_->write(std::move(chunk)); }
  void finish() override { to_->finish(); }
  void on_close(std::function<void()> callback) override { to_->on_close(std::move(callback)); }
  std::string peer() const override { return to_->peer(); }

 private:
  std::shared_ptr<net::Exchange> to_;
};

// Our own page asks, or a person follows a link to it.
bool is_of_ours(const net::Headers& headers) {
  const auto site = headers.get("Sec-Fetch-Site");
  return site.empty() || site == "same-origin" || site == "none" ||
         (headers.get("Sec-Fetch-Mode") == "navigate" &&
          headers.get("Sec-Fetch-Dest") == "document");
}

}  // namespace

tl::expected<std::string, net::Response> past_the_door(const net::Request& request,
                                                       std::string_view secret) {
  if (!is_loopback(request.headers.get("Host")) || !is_of_ours(request.headers)) {
    return tl::unexpected(net::Response::text(403, "this address is for the console's own page\n"));
  }
  const std::string_view target = request.target;
  const auto end = target.empty() ? std::string_view::npos : target.find('/', 1);
  if (end == std::string_view::npos || !is_same_secret(target.substr(1, end - 1), secret)) {
    return tl::unexpected(net::Response::text(
        404, "open the whole address that `millwright` printed as it started\n"));
  }
  if (request.method != "GET") {
    return tl::unexpected(net::Response::text(405, "only GET is answered here\n"));
  }
  return std::string(target.substr(end));
}

base::Result<std::unique_ptr<ConsoleDoor>> ConsoleDoor::open(base::Loop& loop, std::uint16_t port,
                                                             net::Handler backend) {
  MW_TRY(secret, make_secret());
  net::ServerOptions options{.address = "127.0.0.1", .port = port, .tls = false};
  limit_readers(options);
  options.stream_queue_limit = ConsoleFeed::kQueueLimit;
  auto handler = [&loop, secret, backend = std::move(backend)](
                     net::Request request, std::shared_ptr<net::Exchange> plain) {
    const auto exchange = std::make_shared<RestrictedExchange>(std::move(plain));
    auto target = past_the_door(request, secret);
    if (!target) {
      exchange->respond(std::move(target).error());
      return;
    }
    request.target = *std::move(target);
    loop.post([backend, request = std::move(request), exchange] { backend(request, exchange); });
  };
  MW_TRY(server, net::Server::start(std::move(options), std::move(handler)));
  auto door = std::make_unique<ConsoleDoor>();
  door->url_ = "http://127.0.0.1:" + std::to_string(server->port()) + "/" + secret +
               std::string(kConsolePage);
  door->server_ = std::move(server);
  return door;
}

}  // namespace millwright::app
