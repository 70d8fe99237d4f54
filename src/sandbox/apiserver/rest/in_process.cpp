// kube::Transport without a network: requests go straight to the server, answers and watch
// chunks come back through the loop.
#include "millwright/base/task.hpp"
#include "millwright/sandbox/api_server.hpp"

#include <optional>

namespace millwright::sandbox {

namespace {

using Answer = base::Result<net::Response>;

// One exchange in memory. Loop thread only.
class MemoryExchange final : public net::Exchange,
                             public std::enable_shared_from_this<MemoryExchange> {
 public:
  MemoryExchange(base::Loop& loop, std::function<void(std::string_view)> on_chunk)
      : loop_(loop), answer_(loop), on_chunk_(std::move(on_chunk)) {}

  ~MemoryExchange() override {
    if (!done_) {
      answer_.set(net::Response::text(500, "the request was dropped without an answer"));
    }
  }

  void respond(net::Response response) override { complete(std::move(response)); }
  void start(int status, net::Headers headers) override {
    stream_ = net::Response{status, std::move(headers), {}};
    if (status == 200) {
      write({});
    }
  }
  void write(std::string chunk) override {
    // Through the loop: the writer may be in the middle of a change.
    loop_.post([self = shared_from_this(), text = std::move(chunk)] {
      if (!self->done_ && self->on_chunk_) {
        self->on_chunk_(text);
      }
    });
  }
  void finish() override {
    loop_.post(
        [self = shared_from_this()] { self->complete(self->stream_.value_or(net::Response{})); });
  }
  void on_close(std::function<void()> callback) override { on_close_ = std::move(callback); }

  // The client goes away.
  void abandon(base::Error why) {
    complete(tl::unexpected(std::move(why)));
    if (auto callback = std::exchange(on_close_, nullptr)) {
      callback();
    }
  }

  auto wait() { return answer_.get(); }

 private:
  void complete(Answer answer) {
    if (!done_) {
      done_ = true;
      answer_.set(std::move(answer));
    }
  }

  base::Loop& loop_;
  base::Promise<Answer> answer_;
  std::function<void(std::string_view)> on_chunk_;
  std::function<void()> on_close_;
  std::optional<net::Response> stream_;
  bool done_ = false;
};

net::Request to_http(kube::ApiRequest request) {
  net::Request http;
  http.method = std::move(request.method);
  http.target = std::move(request.path);
  http.body = std::move(request.body);
  http.headers.set("Accept", "application/json");
  if (!http.body.empty()) {
    http.headers.set("Content-Type", std::move(request.content_type));
  }
  return http;
}

class InProcessTransport final : public kube::Transport {
 public:
  explicit InProcessTransport(ApiServer& server) : server_(server) {}

  base::Task<Answer> call(kube::ApiRequest request, std::stop_token stop) override {
    return exchange(&server_, std::move(request), {}, std::move(stop), false);
  }
  base::Task<Answer> stream(kube::ApiRequest request,
                            std::function<void(std::string_view)> on_chunk,
                            std::stop_token stop) override {
    return exchange(&server_, std::move(request), std::move(on_chunk), std::move(stop), true);
  }

 private:
  static base::Task<Answer> exchange(ApiServer* server, kube::ApiRequest request,
                                     std::function<void(std::string_view)> on_chunk,
                                     std::stop_token stop, bool streams) {
    auto& loop = server->loop();
    const auto timeout = request.timeout;
    auto exchange = std::make_shared<MemoryExchange>(loop, std::move(on_chunk));
    const std::weak_ptr<MemoryExchange> weak = exchange;
    base::TimerId deadline = 0;
    if (!streams && timeout.count() > 0) {
      deadline = loop.after(timeout, [weak] {
        if (const auto alive = weak.lock()) {
          alive->abandon({base::ErrorKind::Timeout, "no answer within the deadline"});
        }
      });
    }
    const std::stop_callback on_stop(stop, [weak] {
      if (const auto alive = weak.lock()) {
        alive->abandon({base::ErrorKind::Cancelled, "the request was cancelled"});
      }
    });
    loop.post([server, weak, http = to_http(std::move(request))]() mutable {
      if (auto alive = weak.lock()) {
        server->handle(std::move(http), std::move(alive));
      }
    });
    auto answer = co_await exchange->wait();
    loop.cancel(deadline);
    co_return answer;
  }

  ApiServer& server_;
};

}  // namespace

std::shared_ptr<kube::Transport> in_process_transport(ApiServer& server) {
  return std::make_shared<InProcessTransport>(server);
}

}  // namespace millwright::sandbox
