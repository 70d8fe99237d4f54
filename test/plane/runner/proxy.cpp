#include "plane/runner/proxy.hpp"

#include "millwright/base/loop.hpp"
#include "millwright/base/random.hpp"
#include "millwright/net/server.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <atomic>
#include <future>
#include <map>
#include <thread>

namespace millwright::plane {
namespace {

using ExchangePtr = std::shared_ptr<net::Exchange>;

constexpr auto kHeadersAfter = milliseconds(500);
constexpr auto kStopGrace = milliseconds(200);

bool is_watch(const net::Request& request) {
  const auto watch = request.query("watch");
  return watch && (*watch == "1" || *watch == "true");
}

net::Response failure(int code, std::string_view reason) {
  return net::Response::json(code, json::serialize(json::object{{"apiVersion", "v1"},
                                                                {"kind", "Status"},
                                                                {"status", "Failure"},
                                                                {"reason", reason},
                                                                {"message", "injected by the test"},
                                                                {"code", code}}));
}

net::Headers json_headers() {
  net::Headers headers;
  headers.set("Content-Type", "application/json");
  return headers;
}

// The writing end of a watch: opened by the first event or after a moment, whichever comes first.
struct Stream {
  explicit Stream(ExchangePtr to) : exchange(std::move(to)) {}
  void open() {
    if (!std::exchange(opened, true)) {
      exchange->start(200, json_headers());
    }
  }
  ExchangePtr exchange;
  bool opened = false;
  bool ended = false;
};

}  // namespace

struct Proxy::State {
  base::RealLoop loop;
  ProxyFaults faults;
  base::Random random{1};
  std::string upstream;
  std::unique_ptr<net::Client> client;
  base::TaskGroup group{loop};
  std::atomic<std::size_t> spoiled{0};
  bool holding = false;                     // on the loop, like the watches
  std::map<int, std::stop_source> watches;  // in progress
  int last_watch = 0;
  std::unique_ptr<net::Server> server;
  std::thread thread;

  net::ClientRequest to_upstream(const net::Request& request) const {
    net::ClientRequest forwarded;
    forwarded.method = request.method;
    forwarded.url = upstream + request.target;
    forwarded.body = request.body;
    for (const std::string name : {"Content-Type", "Accept", "User-Agent"}) {
      if (const auto* value = request.headers.find(name)) {
        forwarded.headers.set(name, *value);
      }
    }
    return forwarded;
  }

  // True when the request was answered here.
  bool spoil(const net::Request& request, const ExchangePtr& exchange) {
    if (request.method == "GET") {
      return false;
    }
    const double dice = random.unit();
    if (dice >= faults.conflicts + faults.failures) {
      return false;
    }
    ++spoiled;
    const bool conflict = dice < faults.conflicts;
    exchange->respond(conflict ? failure(409, "Conflict") : failure(500, "InternalError"));
    return true;
  }

  base::Task<void> forward(net::Request request, ExchangePtr exchange) {
    auto response = co_await client->send(to_upstream(request), group.stop_token());
    if (!response) {
      exchange->respond(failure(503, "ServiceUnavailable"));
      co_return;
    }
    net::Response answer = net::Response::json(response->status, std::move(response->body));
    for (const std::string name : {"Content-Type", "Retry-After"}) {
      if (const auto* value = response->headers.find(name)) {
        answer.headers.set(name, *value);
      }
    }
    exchange->respond(std::move(answer));
  }

  base::Task<void> forward_watch(net::Request request, ExchangePtr exchange) {
    auto stream = std::make_shared<Stream>(exchange);
    std::stop_source gone;
    const int number = ++last_watch;
    watches.emplace(number, gone);
    exchange->on_close([gone]() mutable { gone.request_stop(); });
    loop.after(kHeadersAfter, [stream] {
      if (!stream->ended) {
        stream->open();
      }
    });
    net::ClientRequest forwarded = to_upstream(request);
    forwarded.timeout = milliseconds(0);
    std::function<void(std::string_view)> tell = [this, stream](std::string_view chunk) {
      loop.after(faults.watch_delay, [stream, text = std::string(chunk)] {
        stream->open();
        stream->exchange->write(text);
      });
    };
    auto ended = co_await client->stream(std::move(forwarded), std::move(tell), gone.get_token());
    watches.erase(number);
    const bool refused = ended && ended->status != 200;
    if (refused && !stream->opened) {
      stream->ended = true;
      stream->exchange->respond(net::Response::json(ended->status, std::move(ended->body)));
      co_return;
    }
    loop.after(faults.watch_delay, [stream] {
      stream->open();
      stream->ended = true;
      stream->exchange->finish();
    });
  }

  // Returns once it is so.
  void hold(bool wanted) {
    std::promise<void> done;
    loop.post([&] {
      holding = wanted;
      for (auto& [number, gone] : watches) {
        if (wanted) {
          gone.request_stop();
        }
      }
      done.set_value();
    });
    done.get_future().wait();
  }

  void handle(net::Request request, ExchangePtr exchange) {
    loop.post([this, request = std::move(request), exchange = std::move(exchange)] {
      if (is_watch(request) && holding) {
        exchange->respond(failure(503, "ServiceUnavailable"));
      } else if (is_watch(request)) {
        group.spawn(forward_watch(request, exchange));
      } else if (!spoil(request, exchange)) {
        group.spawn(forward(request, exchange));
      }
    });
  }
};

base::Result<std::unique_ptr<Proxy>> Proxy::start(Plane& plane, ProxyFaults faults) {
  std::unique_ptr<Proxy> proxy(new Proxy());
  proxy->state_ = std::make_unique<State>();
  auto* state = proxy->state_.get();
  state->faults = faults;
  state->random = base::Random(faults.seed);
  state->upstream = plane.url();
  state->client = net::make_client(state->loop, plane.admin_tls());
  net::ServerOptions options;
  options.body_limit = 64U << 20;
  MW_TRY(server,
         net::Server::start(options,
                            [state](net::Request request, ExchangePtr exchange) {
                              state->handle(std::move(request), std::move(exchange));
                            },
                            {.certificate_pem = read_text(plane.directory() + "/server.crt"),
                             .key_pem = read_text(plane.directory() + "/server.key")}));
  state->server = std::move(server);
  state->thread = std::thread([state] { state->loop.run(); });
  std::string config = read_text(plane.kubeconfig());
  config.replace(config.find(plane.url()), plane.url().size(),
                 fmt::format("https://127.0.0.1:{}", state->server->port()));
  proxy->kubeconfig_ = plane.directory() + "/proxy.kubeconfig";
  write_text(proxy->kubeconfig_, config);
  return proxy;
}

Proxy::~Proxy() {
  if (state_->server) {
    state_->server->stop(kStopGrace);
  }
  state_->loop.stop();
  if (state_->thread.joinable()) {
    state_->thread.join();
  }
}

void Proxy::hold_watches() {
  state_->hold(true);
}

void Proxy::release_watches() {
  state_->hold(false);
}

std::size_t Proxy::spoiled() const {
  return state_->spoiled;
}

}  // namespace millwright::plane
