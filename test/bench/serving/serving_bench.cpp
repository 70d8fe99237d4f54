// `filter` over TLS, as kube-scheduler calls it: one connection, one request after another, names
// only. Prints the time in the server (parse, judge, answer) and the time the caller waits.

#include "millwright/base/version.hpp"
#include "millwright/certs/certs.hpp"
#include "millwright/cluster/state.hpp"
#include "millwright/extender/extender.hpp"
#include "millwright/net/client.hpp"
#include "millwright/net/server.hpp"
#include "millwright/scheduling/solve.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <vector>

namespace {

using namespace millwright;
namespace json = boost::json;
using Clock = std::chrono::steady_clock;
using Micros = std::chrono::duration<double, std::micro>;

constexpr int kWarmUp = 100;
constexpr int kRequests = 2'000;

std::string node_name(int i) {
  return "node-" + std::to_string(100'000 + i);
}

std::shared_ptr<const model::Pod> waiting_pod(const std::string& name) {
  model::Pod pod;
  pod.meta.namespace_ = "default";
  pod.meta.name = name;
  pod.meta.uid = name;
  pod.status.phase = "Pending";
  model::Container container;
  container.requests = {{"cpu", model::Quantity::from_units(6)}};
  pod.spec.containers.push_back(std::move(container));
  return std::make_shared<const model::Pod>(std::move(pod));
}

// What is reserved for pods that do not wait would be freed.
void reserve_for(const std::shared_ptr<const model::Pod>& pod, const std::string& node,
                 cluster::State& state, cluster::Ledger& ledger) {
  state.upsert(pod);
  ledger.reserve({.group = scheduling::group_of(*pod),
                  .target = node,
                  .count = 1,
                  .sample = model::key_of(pod->meta),
                  .requests = scheduling::effective_requests(*pod),
                  .until = base::TimePoint::max()});
}

void fill(cluster::State& state, cluster::Ledger& ledger, int nodes) {
  for (int i = 0; i < nodes; ++i) {
    model::Node node;
    node.meta.name = node_name(i);
    node.meta.uid = "uid-" + node.meta.name;
    node.provider_id = "kwok://" + node.meta.name;
    node.allocatable = {{"cpu", model::Quantity::from_units(8)},
                        {"memory", model::Quantity::from_units(32LL << 30)},
                        {"pods", model::Quantity::from_units(110)}};
    node.capacity = node.allocatable;
    state.upsert(std::make_shared<const model::Node>(std::move(node)));
    if (i % 50 == 0) {
      reserve_for(waiting_pod("waiting-" + std::to_string(i)), node_name(i), state, ledger);
    }
    if (i % 100 == 1) {
      ledger.fence({.node = node_name(i), .reason = "Underutilized"});
    }
  }
  state.set_synced(true);
  state.snapshot();
}

std::string request_for(int names, int sequence) {
  json::array list;
  for (int i = 0; i < names; ++i) {
    list.emplace_back(node_name(i));
  }
  const std::string uid = "pod-" + std::to_string(sequence);
  json::value pod = {
      {"metadata", {{"name", uid}, {"namespace", "default"}, {"uid", uid}}},
      {"spec",
       {{"containers",
         json::array{json::object{
             {"name", "c"}, {"resources", {{"requests", {{"cpu", "3"}, {"memory", "1Gi"}}}}}}}}}}};
  return json::serialize(
      json::object{{"Pod", std::move(pod)}, {"Nodes", nullptr}, {"NodeNames", std::move(list)}});
}

void report(const char* what, std::vector<double>& micros) {
  std::sort(micros.begin(), micros.end());
  const auto at = [&](double quantile) {
    return micros[static_cast<std::size_t>(quantile * static_cast<double>(micros.size() - 1))];
  };
  std::printf("  %-22s p50 %8.1f us   p99 %8.1f us   max %8.1f us\n", what, at(0.5), at(0.99),
              micros.back());
}

int bench(int names) {
  cluster::Ledger ledger;
  cluster::State state(ledger);
  fill(state, ledger, names);
  base::RealLoop loop;
  extender::Extender extender({.sight = [&] { return state.sight(); },
                               .ledger = &ledger,
                               .now = [&] { return loop.now(); }},
                              {});
  std::mutex mutex;
  std::vector<double> server_times;
  net::Router router;
  router.add_sync("/filter", [&](const net::Request& request) {
    const auto begun = Clock::now();
    auto reply = extender.filter(request.body);
    const double took = Micros(Clock::now() - begun).count();
    const std::scoped_lock lock(mutex);
    server_times.push_back(took);
    return net::Response::json(reply.status, std::move(reply.body));
  });
  const auto bundle =
      certs::reconcile(std::nullopt, {.ip_addresses = {"127.0.0.1"}}, base::system_now());
  auto server = net::Server::start(
      {.body_limit = 64U << 20},
      [&](net::Request request, std::shared_ptr<net::Exchange> exchange) {
        router.handle(std::move(request), std::move(exchange));
      },
      {.certificate_pem = bundle->leaf.certificate_pem, .key_pem = bundle->leaf.key_pem});
  if (!server) {
    std::fprintf(stderr, "%s\n", server.error().message.c_str());
    return 1;
  }
  const auto client = net::make_client(loop, {.ca_pem = bundle->ca.certificate_pem});
  std::vector<double> waits;
  for (int i = 0; i < kWarmUp + kRequests; ++i) {
    net::ClientRequest request;
    request.method = "POST";
    request.url = "https://127.0.0.1:" + std::to_string((*server)->port()) + "/filter";
    request.body = request_for(names, i);
    const auto begun = Clock::now();
    const auto reply = client->send_blocking(std::move(request));
    if (!reply || reply->status != 200) {
      std::fprintf(stderr, "filter failed: %s\n",
                   reply ? reply->body.c_str() : reply.error().message.c_str());
      return 1;
    }
    if (i >= kWarmUp) {
      waits.push_back(Micros(Clock::now() - begun).count());
    }
  }
  server_times.erase(server_times.begin(), server_times.begin() + kWarmUp);
  std::printf("filter, %d node names, %d requests over TLS\n", names, kRequests);
  report("in the server", server_times);
  report("as the caller sees it", waits);
  (*server)->stop(std::chrono::milliseconds(100));
  return 0;
}

}  // namespace

int main() {
  const int small = bench(500);
  const int large = bench(5'000);
  return small != 0 ? small : large;
}
