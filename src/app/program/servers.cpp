#include "app/program/servers.hpp"

#include "app/program/serving.hpp"

#include <string>
#include <utility>

namespace millwright::app {
namespace {

net::Handler handler_of(std::shared_ptr<net::Router> router) {
  return
      [router = std::move(router)](net::Request request, std::shared_ptr<net::Exchange> exchange) {
        router->handle(std::move(request), std::move(exchange));
      };
}

}  // namespace

base::Result<std::unique_ptr<net::Server>> Servers::open_plain(
    int port, std::shared_ptr<net::Router> router) {
  net::ServerOptions options{.address = parts_.settings.bind_address,
                             .port = static_cast<std::uint16_t>(port),
                             .tls = false,
                             .log = parts_.log.named("server")};
  limit_readers(options);
  return net::Server::start(std::move(options), handler_of(std::move(router)));
}

base::Result<> Servers::open_plain_ports() {
  auto metrics_router = std::make_shared<net::Router>();
  metrics_router->add_sync("/metrics", [this](const net::Request&) {
    return net::Response::text(200, parts_.engine.metrics_page());
  });
  auto health_router = std::make_shared<net::Router>();
  health_router->add_sync("/healthz", [this](const net::Request&) {
    return parts_.heartbeat.is_stuck() ? net::Response::text(503, "the loop is stuck\n")
                                       : net::Response::text(200, "ok\n");
  });
  health_router->add_sync("/readyz", [this](const net::Request&) {
    const bool synced = parts_.engine.state().latest()->synced;
    return ready_ && synced && !parts_.heartbeat.is_stuck()
               ? net::Response::text(200, "ok\n")
               : net::Response::text(503,
                                     "not ready: still listing objects, not hearing of the "
                                     "cluster, without a certificate, or stopping\n");
  });
  MW_TRY(metrics, open_plain(parts_.settings.metrics_port, std::move(metrics_router)));
  metrics_ = std::move(metrics);
  MW_TRY(health, open_plain(parts_.settings.health_port, std::move(health_router)));
  health_ = std::move(health);
  return {};
}

void Servers::use(const certs::Bundle& bundle,
                  const std::function<void(std::string_view)>& on_extender_call) {
  const net::TlsIdentity identity{.certificate_pem = bundle.leaf.certificate_pem,
                                  .key_pem = bundle.leaf.key_pem};
  if (serving_) {
    if (const auto changed = serving_->set_identity(identity); !changed) {
      parts_.log.error("the new certificate cannot be used", {{"error", changed.error().message}});
    }
    return;
  }
  auto router = std::make_shared<net::Router>();
  add_extender_routes(*router, parts_.engine,
                      {.on_call = on_extender_call,
                       .leads = [&leadership = parts_.leadership] { return leadership.holds(); }});
  add_webhook_routes(*router, parts_.engine);
  if (parts_.settings.serve_bind) {
    add_bind_route(*router, parts_.engine, parts_.client);
  }
  net::ServerOptions options{.address = parts_.settings.bind_address,
                             .port = static_cast<std::uint16_t>(parts_.settings.serving_port),
                             .threads = 2,
                             .log = parts_.log.named("server")};
  limit_callers(options, parts_.settings.full_nodes);
  auto started = net::Server::start(std::move(options), handler_of(std::move(router)), identity);
  if (!started) {
    parts_.log.error("the extender and the webhooks cannot be served",
                     {{"error", started.error().message}});
    return;
  }
  serving_ = *std::move(started);
  ready_ = true;
  parts_.log.info("serving the extender and the webhooks",
                  {{"port", std::to_string(serving_->port())}});
}

void Servers::stop(std::chrono::milliseconds grace) {
  if (serving_) {
    serving_->stop(grace);
  }
}

}  // namespace millwright::app
