#include "app/serving/stop_servers.hpp"

#include <functional>
#include <system_error>
#include <thread>

namespace millwright::app {
namespace {

// Where no thread is to be had the loop stands still meanwhile: better than not to end in order.
std::jthread run_in_thread(const std::function<void()>& work) {
  try {
    return std::jthread(work);
  } catch (const std::system_error&) {
    work();
    return {};
  }
}

// A thread of its own waits: those of Compute may be busy with a plan for seconds.
base::Task<void> stop_beside_loop(base::Loop* loop, net::Server* server,
                                  std::chrono::milliseconds grace) {
  const base::Promise<bool> stopped(*loop);
  const std::function<void()> stop = [server, grace, stopped] {
    server->stop(grace);
    stopped.set(true);
  };
  const std::jthread waiting = run_in_thread(stop);
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
