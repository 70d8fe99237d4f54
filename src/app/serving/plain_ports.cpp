#include "app/serving/plain_ports.hpp"

#include "app/serving/cpu_profile.hpp"
#include "app/serving/serving.hpp"

#include <cstdint>
#include <utility>

namespace millwright::app {

std::function<void(std::string_view)> count_refusals(base::Metrics& metrics, std::string server) {
  return [&metrics, server = std::move(server)](std::string_view reason) {
    metrics.count("millwright_http_refused_total",
                  "Requests that were not served, and connections that were closed for others.",
                  {{"server", server}, {"reason", std::string(reason)}});
  };
}

base::Result<std::unique_ptr<net::Server>> PlainPorts::open_one(
    const std::string& name, int port, std::shared_ptr<net::Router> router) const {
  net::ServerOptions options{.address = parts_.settings.bind_address,
                             .port = static_cast<std::uint16_t>(port),
                             .tls = false,
                             .on_refusal = count_refusals(parts_.metrics, name),
                             .log = parts_.log.named("server")};
  limit_readers(options);
  return net::Server::start(std::move(options), handler_of(std::move(router)));
}

base::Result<> PlainPorts::open() {
  auto metrics_router = std::make_shared<net::Router>();
  metrics_router->add_sync("/metrics", [this](const net::Request&) {
    return net::Response::text(200, parts_.metrics_page());
  });
  if (parts_.settings.profiling) {
    add_profile_route(*metrics_router, parts_.loop);
  }
  auto health_router = std::make_shared<net::Router>();
  health_router->add_sync("/healthz", [this](const net::Request&) {
    return parts_.heartbeat.is_stuck() ? net::Response::text(503, "the loop is stuck\n")
                                       : net::Response::text(200, "ok\n");
  });
  health_router->add_sync("/readyz", [this](const net::Request&) {
    return parts_.ready() && !parts_.heartbeat.is_stuck()
               ? net::Response::text(200, "ok\n")
               : net::Response::text(503, "not ready: " + parts_.not_ready + "\n");
  });
  MW_TRY(metrics, open_one("metrics", parts_.settings.metrics_port, std::move(metrics_router)));
  metrics_ = std::move(metrics);
  MW_TRY(health, open_one("health", parts_.settings.health_port, std::move(health_router)));
  health_ = std::move(health);
  return {};
}

}  // namespace millwright::app
