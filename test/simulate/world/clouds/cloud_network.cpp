#include "simulate/world/clouds/cloud_network.hpp"

#include "simulate/world/draws.hpp"
#include "simulate/world/network.hpp"

#include <utility>

namespace millwright::test {
namespace {

constexpr base::Duration kLeast = std::chrono::milliseconds(10);

}  // namespace

base::Duration CloudNetwork::draw_latency() {
  return kLeast / 2 + draw_up_to(random_, api_.trouble.slow / 2);
}

base::Task<base::Result<net::Response>> CloudNetwork::send(net::ClientRequest request,
                                                           std::stop_token stop) {
  if (auto change = api_.changes(request); !change.empty()) {
    on_change_(std::move(change));
  }
  const base::Promise<Reply> reply(world_);
  const auto timeout = request.timeout;
  on_the_way_.spawn(deliver(std::move(request), reply));
  auto answer = co_await await_answer(world_, reply, timeout, std::move(stop));
  co_await base::yield(loop_);  // a stopped process sees it later
  co_return answer;
}

base::Task<void> CloudNetwork::deliver(net::ClientRequest request, base::Promise<Reply> reply) {
  co_await base::sleep(world_, draw_latency());
  if (chance(api_.trouble.errors)) {
    reply.set(net::Response::text(500, "<html>simulated</html>"));
    co_return;
  }
  if (chance(api_.trouble.throttles)) {
    reply.set(api_.throttled);
    co_return;
  }
  if (api_.holds) {
    co_await base::sleep(world_, api_.holds(request));
  }
  auto answer = api_.answer(request);
  const bool is_lost = chance(api_.trouble.lost_replies);
  co_await base::sleep(world_, draw_latency());
  if (is_lost) {
    reply.set(base::fail(base::ErrorKind::Unavailable, "the connection was reset"));
  } else {
    reply.set(std::move(answer));
  }
}

base::Task<base::Result<net::Response>> CloudNetwork::stream(
    net::ClientRequest /*request*/, std::function<void(std::string_view)> /*on_chunk*/,
    std::stop_token /*stop*/) {
  co_return base::fail(base::ErrorKind::Internal, "clouds have no streams");
}

base::Result<net::Response> CloudNetwork::send_blocking(net::ClientRequest request) {
  return api_.answer(request);
}

}  // namespace millwright::test
