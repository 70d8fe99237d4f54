#include "app/console/console_relay.hpp"

#include "app/asking/remote.hpp"
#include "app/console/console_routes.hpp"

#include <stop_token>
#include <utility>

namespace millwright::app {
namespace {

net::Response relayed(const base::Result<net::Response>& answer) {
  if (!answer) {
    return net::Response::text(502,
                               "the controller does not answer: " + answer.error().message + "\n");
  }
  net::Response response{.status = answer->status, .headers = {}, .body = answer->body};
  for (const char* name : {"Content-Type", "Cache-Control", "Retry-After"}) {
    if (const auto* value = answer->headers.find(name)) {
      response.headers.set(name, *value);
    }
  }
  return response;
}

}  // namespace

void ConsoleRelay::answer(const net::Request& request, std::shared_ptr<net::Exchange> exchange) {
  const bool is_stream = request.path() == kConsoleEvents;
  group_.spawn(is_stream ? stream(request.target, std::move(exchange))
                         : call(request.target, std::move(exchange)));
}

base::Task<void> ConsoleRelay::call(std::string target, std::shared_ptr<net::Exchange> exchange) {
  auto request = get_request(target);
  const auto answer = co_await transport_.call(std::move(request), group_.stop_token());
  exchange->respond(relayed(answer));
}

base::Task<void> ConsoleRelay::stream(std::string target, std::shared_ptr<net::Exchange> exchange) {
  auto request = get_request(target);
  auto gone = std::make_shared<std::stop_source>();
  const std::stop_callback end(group_.stop_token(), [gone] { gone->request_stop(); });
  // On another thread; what it stops lives on the loop.
  exchange->on_close([&loop = loop_, gone] { loop.post([gone] { gone->request_stop(); }); });
  bool begun = false;
  std::function<void(std::string_view)> pass_on = [&begun, &exchange](std::string_view chunk) {
    if (!std::exchange(begun, true)) {
      net::Headers headers;
      headers.set("Content-Type", "text/event-stream");
      headers.set("Cache-Control", "no-store");
      exchange->start(200, std::move(headers));
    }
    if (!chunk.empty()) {
      exchange->write(std::string(chunk));
    }
  };
  const auto answer =
      co_await transport_.stream(std::move(request), std::move(pass_on), gone->get_token());
  if (begun) {
    exchange->finish();
  } else {
    exchange->respond(relayed(answer));
  }
}

}  // namespace millwright::app
