// Resident memory of `millwright controller`, a process of its own, against an API server with
// 1,000 nodes and 10,000 pods. Usage: memory_bench PATH_TO_MILLWRIGHT

#include "millwright/base/task.hpp"
#include "millwright/net/client.hpp"
#include "millwright/net/server.hpp"
#include "millwright/sandbox/api_server.hpp"

#include <boost/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace {

using namespace millwright;
namespace json = boost::json;

constexpr int kNodes = 1'000;
constexpr int kPodsPerNode = 10;

void fill(sandbox::ApiServer& api) {
  const json::object room{{"cpu", "8"}, {"memory", "32Gi"}, {"pods", "110"}};
  for (int i = 0; i < kNodes; ++i) {
    const std::string name = "node-" + std::to_string(i);
    json::value node = {{"apiVersion", "v1"},
                        {"kind", "Node"},
                        {"metadata",
                         {{"name", name},
                          {"labels",
                           {{"kubernetes.io/hostname", name},
                            {"kubernetes.io/arch", "amd64"},
                            {"kubernetes.io/os", "linux"},
                            {"topology.kubernetes.io/zone", "zone-" + std::to_string(i % 3)},
                            {"node.kubernetes.io/instance-type", "m-8x-amd64-linux"}}}}},
                        {"spec", {{"providerID", "other://" + name}}},
                        {"status", {{"capacity", room}, {"allocatable", room}}}};
    if (!api.create(model::kNodeResource, std::move(node))) {
      std::abort();
    }
    for (int j = 0; j < kPodsPerNode; ++j) {
      const std::string pod_name = name + "-" + std::to_string(j);
      const json::value container = {
          {"name", "work"},
          {"image", "registry.example/work:1"},
          {"resources", {{"requests", {{"cpu", "500m"}, {"memory", "1Gi"}}}}}};
      json::value pod = {{"apiVersion", "v1"},
                         {"kind", "Pod"},
                         {"metadata",
                          {{"name", pod_name},
                           {"namespace", "default"},
                           {"labels", {{"app", "work"}, {"shard", std::to_string(j)}}}}},
                         {"spec", {{"nodeName", name}, {"containers", json::array{container}}}},
                         {"status", {{"phase", "Running"}}}};
      if (!api.create(model::kPodResource, std::move(pod))) {
        std::abort();
      }
    }
  }
}

// A port nobody listens on now.
int free_port() {
  auto server = net::Server::start({.tls = false}, [](net::Request, auto) {});
  const int port = (*server)->port();
  (*server)->stop(std::chrono::milliseconds(0));
  return port;
}

long resident_kib(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  std::string word;
  while (status >> word) {
    if (word == "VmRSS:") {
      long kib = 0;
      status >> kib;
      return kib;
    }
  }
  return -1;
}

struct Child {
  pid_t pid = -1;
  int health_port = 0;
};

Child start_controller(const char* program, const std::string& kubeconfig) {
  Child child{.pid = -1, .health_port = free_port()};
  const std::string health = std::to_string(child.health_port);
  const std::string metrics = std::to_string(free_port());
  const std::string serving = std::to_string(free_port());
  const std::string extender = std::to_string(free_port());
  child.pid = fork();
  if (child.pid == 0) {
    execl(program, program, "controller", "--kubeconfig", kubeconfig.c_str(), "--health-probe-port",
          health.c_str(), "--metrics-port", metrics.c_str(), "--serving-port", serving.c_str(),
          "--extender-port", extender.c_str(), "--bind-address", "127.0.0.1", "--log-level",
          "error", nullptr);
    _exit(127);
  }
  return child;
}

base::Task<void> measure(base::RealLoop& loop, Child child) {
  const auto client = net::make_client(loop);
  bool ready = false;
  for (int i = 0; i < 300 && !ready; ++i) {
    net::ClientRequest request;
    request.url = "http://127.0.0.1:" + std::to_string(child.health_port) + "/readyz";
    auto reply = co_await client->send(std::move(request));
    ready = reply && reply->status == 200;
    co_await base::sleep(loop, std::chrono::milliseconds(100));
  }
  if (!ready) {
    std::fprintf(stderr, "the controller did not become ready\n");
  }
  const long at_sync = resident_kib(child.pid);
  co_await base::sleep(loop, std::chrono::seconds(10));
  std::printf(
      "controller with %d nodes and %d pods: %.1f MiB resident when synced, %.1f MiB 10 s "
      "later\n",
      kNodes, kNodes * kPodsPerNode, static_cast<double>(at_sync) / 1024,
      static_cast<double>(resident_kib(child.pid)) / 1024);
  loop.stop();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: memory_bench PATH_TO_MILLWRIGHT\n");
    return 2;
  }
  base::RealLoop loop;
  sandbox::ApiServer api(loop);
  fill(api);
  auto endpoint = sandbox::ApiEndpoint::start(api);
  if (!endpoint) {
    std::fprintf(stderr, "%s\n", endpoint.error().message.c_str());
    return 1;
  }
  const std::string kubeconfig =
      (std::filesystem::temp_directory_path() / ("memory-bench-" + std::to_string(getpid())))
          .string();
  if (!(*endpoint)->write_kubeconfig(kubeconfig)) {
    return 1;
  }
  const Child child = start_controller(argv[1], kubeconfig);
  base::TaskGroup group(loop);
  group.spawn(measure(loop, child));
  loop.run();
  kill(child.pid, SIGTERM);
  // The API server is gone from the loop's point of view, so the controller leaves by its limit.
  std::thread([pid = child.pid] { waitpid(pid, nullptr, 0); }).join();
  std::filesystem::remove(kubeconfig);
  (*endpoint)->stop();
  return 0;
}
