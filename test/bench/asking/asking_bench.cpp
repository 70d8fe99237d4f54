// The asking port of a controller with 5,000 nodes and a full record, asked over TLS as `why` and
// `top` do: one connection, one question after another. The caller's rights are taken for granted,
// as they are for a token that was seen within the last minute.

#include "app/asking/asking_routes.hpp"
#include "app/asking/remote.hpp"
#include "millwright/certs/certs.hpp"
#include "millwright/net/client.hpp"
#include "unit/scheduling/builders.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace millwright;
using telemetry::Decision;
using telemetry::DecisionKind;
using Millis = std::chrono::duration<double, std::milli>;

constexpr int kNodes = 5'000;
constexpr int kPodsOfEach = 20;
constexpr int kPools = 10;
constexpr int kWarmUp = 10;
constexpr int kQuestions = 300;

std::string pool_of(int i) {
  return "pool-" + std::to_string(i % kPools);
}
std::string claim_of(int i) {
  return pool_of(i) + "-" + std::to_string(10'000 + i);
}
std::string node_of(int i) {
  return "ip-10-0-" + std::to_string(i) + ".eu-west-1.compute.internal";
}
std::string pod_name(int i, int k) {
  return "web-7fg8cbbtvt-" + std::to_string(kPodsOfEach * i + k);
}
std::string pod_of(int i, int k) {
  return "shop/" + pod_name(i, k);
}

// What stands first: the newest decisions are the purchases.
void fill_record(telemetry::DecisionLog& log) {
  std::vector<std::string> claims;
  for (int i = 0; i < kNodes; ++i) {
    claims.push_back(claim_of(i));
  }
  std::vector<telemetry::DecisionLog::Standing> all;
  for (const auto& claim : claims) {
    all.push_back({.subject = claim, .cause = "NotCheaper", .message = "nothing is cheaper"});
  }
  log.stand(DecisionKind::Kept, all, [](std::size_t n) {
    const int i = static_cast<int>(n);
    return Decision{.kind = DecisionKind::Kept,
                    .about = {{.kind = "NodeClaim", .namespace_ = {}, .name = claim_of(i)},
                              {.kind = "Node", .namespace_ = {}, .name = node_of(i)}},
                    .node_pool = pool_of(i),
                    .cause = "NotCheaper",
                    .message = "Nothing that is sold has room for its pods and is cheaper",
                    .price = 0.4};
  });
  for (std::size_t n = 0; n < telemetry::DecisionLog::kMost; ++n) {
    const int i = static_cast<int>(n);
    Decision bought{.kind = DecisionKind::Purchase,
                    .about = {{.kind = "NodeClaim", .namespace_ = {}, .name = claim_of(i)}},
                    .node_pool = pool_of(i),
                    .cause = "provisioned",
                    .message = "Bought NodeClaim " + claim_of(i) + " for 20 pods",
                    .price = 0.4,
                    .alternatives = {{.what = "m5.large", .why_not = "too small", .price = 0.1},
                                     {.what = "m5.4xlarge", .why_not = "dearer", .price = 0.8}}};
    for (int k = 0; k < kPodsOfEach; ++k) {
      bought.pods.push_back(pod_of(i, k));
    }
    log.record(std::move(bought));
  }
}

struct BigCluster {
  scheduling::Snapshot snapshot;
  scheduling::Catalog catalog;
};

BigCluster big_cluster() {
  using scheduling::testing::node;
  using scheduling::testing::pod;
  BigCluster cluster;
  const auto types =
      scheduling::testing::types({scheduling::testing::type("large").cpu("32").memory("128Gi")});
  const auto& offering = types->front().offerings.front();
  for (int i = 0; i < kPools; ++i) {
    cluster.catalog[pool_of(i)] = types;
    auto pool = std::make_shared<model::NodePool>();
    pool->meta.name = pool_of(i);
    cluster.snapshot.node_pools.push_back(std::move(pool));
  }
  for (int i = 0; i < kNodes; ++i) {
    auto made = node(node_of(i))
                    .label(model::kNodePoolLabel, pool_of(i))
                    .label(model::kInstanceTypeLabel, "large")
                    .label(model::kZoneLabel, std::string(offering.zone()))
                    .label(model::kCapacityTypeLabel, std::string(offering.capacity_type()));
    for (int k = 0; k < kPodsOfEach; ++k) {
      made.runs(pod(pod_name(i, k)).cpu("1").memory("1Gi"));
    }
    cluster.snapshot.nodes.push_back(made);
  }
  for (int i = 0; i < kNodes / 10; ++i) {
    cluster.snapshot.pending_pods.push_back(pod("late-" + std::to_string(i)));
  }
  return cluster;
}

class AskedServer {
 public:
  AskedServer() : cluster_(big_cluster()) {
    fill_record(log_);
    router_ = std::make_shared<net::Router>();
    app::add_asking_routes(*router_, {.loop = loop_,
                                      .compute = compute_,
                                      .decisions = log_,
                                      .cluster =
                                          [this] {
                                            return app::view_of({.snapshot = cluster_.snapshot,
                                                                 .catalog = cluster_.catalog,
                                                                 .decisions = log_.all(),
                                                                 .now = base::system_now()});
                                          },
                                      .check = [](std::string, std::string) { return let_in(); },
                                      .group = group_,
                                      .leads = [] { return true; },
                                      .lease = {}});
    const auto bundle =
        certs::reconcile(std::nullopt, {.ip_addresses = {"127.0.0.1"}}, base::system_now());
    server_ = *net::Server::start(
        {},
        [router = router_](net::Request request, std::shared_ptr<net::Exchange> exchange) {
          router->handle(std::move(request), std::move(exchange));
        },
        {.certificate_pem = bundle->leaf.certificate_pem,
         .key_pem = bundle->leaf.key_pem,
         .client_ca_pem = {}});
    client_ = net::make_client(asking_, {.ca_pem = bundle->ca.certificate_pem});
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~AskedServer() {
    server_->stop(std::chrono::milliseconds(100));
    loop_.post([this] { loop_.stop(); });
    thread_.join();
  }
  AskedServer(const AskedServer&) = delete;
  AskedServer& operator=(const AskedServer&) = delete;

  // The size of the answer; 0 when it is none.
  std::size_t ask(const std::string& path) {
    net::ClientRequest request;
    request.url = "https://127.0.0.1:" + std::to_string(server_->port()) + path;
    request.headers.set("Authorization", "Bearer token");
    const auto reply = client_->send_blocking(std::move(request));
    if (!reply || reply->status != 200) {
      std::fprintf(stderr, "%s\n", reply ? reply->body.c_str() : reply.error().message.c_str());
      return 0;
    }
    return reply->body.size();
  }

 private:
  static base::Task<std::optional<net::Response>> let_in() { co_return std::nullopt; }

  BigCluster cluster_;
  base::RealLoop loop_;
  base::RealLoop asking_;  // never run: the client is only used blocking
  telemetry::DecisionLog log_{[] { return base::system_now(); }};
  base::TaskGroup group_{loop_};
  base::ComputeThreads compute_;
  std::shared_ptr<net::Router> router_;
  std::unique_ptr<net::Server> server_;
  std::unique_ptr<net::Client> client_;
  std::thread thread_;
};

std::string why_path(const char* kind, const std::string& name) {
  return app::path_of(*app::make_question(kind, name, "default"), "text");
}

// False: a question was not answered.
template <class Path>
bool measure(AskedServer& server, const char* what, int questions, const Path& path) {
  std::vector<double> waits;
  std::size_t size = 0;
  for (int i = 0; i < kWarmUp + questions; ++i) {
    const std::string asked = path((i * 37) % 4'000);
    const auto begun = std::chrono::steady_clock::now();
    size = server.ask(asked);
    const double took = Millis(std::chrono::steady_clock::now() - begun).count();
    if (size == 0) {
      std::fprintf(stderr, "%s is not answered\n", asked.c_str());
      return false;
    }
    if (i >= kWarmUp) {
      waits.push_back(took);
    }
  }
  std::sort(waits.begin(), waits.end());
  const auto at = [&](double quantile) {
    return waits[static_cast<std::size_t>(quantile * static_cast<double>(waits.size() - 1))];
  };
  std::printf("  %-13s p50 %6.1f ms   p99 %6.1f ms   max %6.1f ms   %8.1f KB\n", what, at(0.5),
              at(0.99), waits.back(), static_cast<double>(size) / 1e3);
  return true;
}

}  // namespace

int main() {
  AskedServer server;
  std::printf("%d nodes with %d pods each, a full record, over TLS; %d questions of each kind\n",
              kNodes, kPodsOfEach, kQuestions);
  const bool answered =
      measure(server, "why pod", kQuestions,
              [](int i) { return why_path("pod", pod_of(i, i % kPodsOfEach)); }) &&
      measure(server, "why node", kQuestions, [](int i) { return why_path("node", node_of(i)); }) &&
      measure(server, "why nodepool", kQuestions,
              [](int i) { return why_path("nodepool", pool_of(i)); }) &&
      measure(server, "top", kQuestions, [](int) { return std::string(app::kClusterPath); });
  return answered ? 0 : 1;
}
