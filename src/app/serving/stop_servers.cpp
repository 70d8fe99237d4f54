#include "app/serving/stop_servers.hpp"

#include <thread>

namespace millwright::app {
namespace {

// A thread of its own waits: those of Compute may be busy with a plan for seconds.
base::Task<void> stop_beside_loop(base::Loop* loop, net::Server* server,
                                  std::chrono::milliseconds grace) {
  const base::Promise<bool> stopped(*loop);
  const std::jthread waiting([server, grace, stopped] {
    server->stop(grace);
    stopped.set(true);
  });
  co_await stopped.get();
}

}  // namespace

base::Task<void> stop_servers(base::Loop* loop, std::vector<net::Server*> servers,
                              std::chrono::milliseconds grace) {
  base::TaskGroup stopping(*loop);
  for (net::Server* server : servers) {
    stopping.spawn(stop_beside_loop(loop, server, grace));
  }
  co_await stopping.join();
}

}  // namespace millwright::app
