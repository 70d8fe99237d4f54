// Memory and CPU time of `millwright controller`, a process of its own, against API servers with
// clusters of different sizes: while nothing happens, and when a tenth of the pods come anew and
// find no room. Usage: memory_bench PATH_TO_MILLWRIGHT

#include "millwright/base/task.hpp"
#include "millwright/net/client.hpp"
#include "millwright/net/server.hpp"
#include "millwright/sandbox/api_server.hpp"

#include <boost/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

namespace {

using namespace millwright;
namespace json = boost::json;

constexpr std::array kNodes{100, 500, 1'000, 5'000};
constexpr int kPodsPerNode = 10;
constexpr std::chrono::seconds kBegin{1'700'000'000};  // of all objects
constexpr auto kObserved = std::chrono::seconds(10);

json::object pod_of(const std::string& name, const std::string& shard) {
  const json::value container = {
      {"name", "work"},
      {"image", "registry.example/work:1"},
      {"resources", {{"requests", {{"cpu", "500m"}, {"memory", "1Gi"}}}}}};
  return {
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata",
       {{"name", name}, {"namespace", "default"}, {"labels", {{"app", "work"}, {"shard", shard}}}}},
      {"spec", {{"schedulerName", "default-scheduler"}, {"containers", json::array{container}}}},
      {"status", {{"phase", "Pending"}}}};
}

// With the status that the object has: creating one empties it, and taints a new Node.
void put(sandbox::ApiServer& api, const model::Resource& resource, json::object object) {
  auto& meta = object["metadata"].as_object();
  meta["uid"] = meta["name"];
  meta["creationTimestamp"] = base::format_rfc3339(base::TimePoint(kBegin));
  if (const auto stored = api.restore(resource, std::move(object)); !stored) {
    std::fprintf(stderr, "%s\n", stored.error().message.c_str());
    std::abort();
  }
}

void fill(sandbox::ApiServer& api, int nodes) {
  // Full: the pods that come need new nodes.
  const json::object room{{"cpu", "5"}, {"memory", "32Gi"}, {"pods", "110"}};
  for (int i = 0; i < nodes; ++i) {
    const std::string name = "node-" + std::to_string(i);
    put(api, model::kNodeResource,
        {{"apiVersion", "v1"},
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
         {"status", {{"capacity", room}, {"allocatable", room}}}});
    for (int j = 0; j < kPodsPerNode; ++j) {
      auto pod = pod_of(name + "-" + std::to_string(j), std::to_string(j));
      pod["spec"].as_object()["nodeName"] = name;
      pod["status"].as_object()["phase"] = "Running";
      put(api, model::kPodResource, std::move(pod));
    }
  }
  put(api, model::kKwokNodeClassResource,
      {{"apiVersion", "karpenter.kwok.sh/v1alpha1"},
       {"kind", "KWOKNodeClass"},
       {"metadata", {{"name", "default"}}}});
  put(api, model::kNodePoolResource,
      {{"apiVersion", "karpenter.sh/v1"},
       {"kind", "NodePool"},
       {"metadata", {{"name", "default"}}},
       {"spec",
        {{"template",
          {{"spec",
            {{"nodeClassRef",
              {{"group", "karpenter.kwok.sh"}, {"kind", "KWOKNodeClass"}, {"name", "default"}}},
             {"requirements", json::array{}}}}}}}}});
}

// Pods as kube-scheduler leaves those that find no room.
void add_unschedulable_pods(sandbox::ApiServer& api, int count) {
  for (int i = 0; i < count; ++i) {
    auto pod = pod_of("new-" + std::to_string(i), "new");
    pod["status"].as_object()["conditions"] =
        json::array{{{"type", "PodScheduled"}, {"status", "False"}, {"reason", "Unschedulable"}}};
    put(api, model::kPodResource, std::move(pod));
  }
}

// A port nobody listens on now.
int free_port() {
  auto server = net::Server::start({.tls = false}, [](net::Request, auto) {});
  const int port = (*server)->port();
  (*server)->stop(std::chrono::milliseconds(0));
  return port;
}

double mib_of(pid_t pid, const std::string& what) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  std::string word;
  while (status >> word) {
    if (word == what + ":") {
      double kib = 0;
      status >> kib;
      return kib / 1024;
    }
  }
  return -1;
}

// Of all its threads, user and system.
double cpu_seconds(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(stat, line);
  // After the name in brackets, which may hold anything, utime and stime are the 12th and 13th.
  std::istringstream fields(line.substr(line.rfind(')') + 1));
  std::string skipped;
  for (int i = 0; i < 11; ++i) {
    fields >> skipped;
  }
  double user = 0;
  double system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
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

base::Task<void> measure(base::RealLoop& loop, sandbox::ApiServer& api, Child child, int nodes) {
  const auto client = net::make_client(loop);
  bool ready = false;
  for (int i = 0; i < 600 && !ready; ++i) {
    net::ClientRequest request;
    request.url = "http://127.0.0.1:" + std::to_string(child.health_port) + "/readyz";
    auto reply = co_await client->send(std::move(request));
    ready = reply && reply->status == 200;
    co_await base::sleep(loop, std::chrono::milliseconds(100));
  }
  if (!ready) {
    std::fprintf(stderr, "the controller did not become ready\n");
  }
  const double start_cpu = cpu_seconds(child.pid);
  co_await base::sleep(loop, kObserved);
  const double still_cpu = cpu_seconds(child.pid) - start_cpu;
  const double still_mib = mib_of(child.pid, "VmRSS");
  const int pods = nodes * kPodsPerNode;
  add_unschedulable_pods(api, pods / 10);
  co_await base::sleep(loop, kObserved);
  std::printf("| %d | %d | %.1f s | %.0f MiB | %.2f s | %d | %.1f s | %.0f MiB | %zu |\n", nodes,
              pods, start_cpu, still_mib, still_cpu, pods / 10,
              cpu_seconds(child.pid) - start_cpu - still_cpu, mib_of(child.pid, "VmHWM"),
              api.list(model::kNodeClaimResource).size());
  std::fflush(stdout);
  loop.stop();
}

int run(const char* program, int nodes) {
  base::RealLoop loop;
  sandbox::ApiServer api(loop);
  fill(api, nodes);
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
  const Child child = start_controller(program, kubeconfig);
  base::TaskGroup group(loop);
  group.spawn(measure(loop, api, child, nodes));
  loop.run();
  kill(child.pid, SIGTERM);
  // The API server is gone from the loop's point of view, so the controller leaves by its limit.
  std::thread([pid = child.pid] { waitpid(pid, nullptr, 0); }).join();
  std::filesystem::remove(kubeconfig);
  (*endpoint)->stop();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: memory_bench PATH_TO_MILLWRIGHT\n");
    return 2;
  }
  std::printf(
      "| nodes | pods | CPU time until ready | memory | CPU time in 10 s without change "
      "| pods that find no room | CPU time in the 10 s after | memory at most | NodeClaims |\n"
      "|---|---|---|---|---|---|---|---|---|\n");
  for (const int nodes : kNodes) {
    if (const int failed = run(argv[1], nodes); failed != 0) {
      return failed;
    }
  }
  return 0;
}
