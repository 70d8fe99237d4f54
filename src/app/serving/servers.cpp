#include "app/serving/servers.hpp"

#include "app/serving/serving.hpp"

#include <string>
#include <utility>

namespace millwright::app {

Servers::Servers(ServersParts parts)
    : parts_(std::move(parts)),
      plain_({.settings = parts_.settings,
              .loop = parts_.client.loop(),
              .metrics = parts_.metrics,
              .heartbeat = parts_.heartbeat,
              .metrics_page = [&engine = parts_.engine] { return engine.metrics_page(); },
              .ready = [this] { return ready_ && parts_.engine.state().latest()->synced; },
              .not_ready = "still listing objects, not hearing of the cluster, without a "
                           "certificate, or stopping",
              .log = parts_.log}) {}

base::Result<> Servers::open_secure_ports(
    const certs::Bundle& bundle, const std::function<void(std::string_view)>& on_extender_call) {
  const Settings& settings = parts_.settings;
  auto scheduler_router = std::make_shared<net::Router>();
  add_extender_routes(*scheduler_router, parts_.engine,
                      {.on_call = on_extender_call,
                       .leads = [&leadership = parts_.leadership] { return leadership.holds(); }});
  if (settings.serve_bind) {
    add_bind_route(*scheduler_router, parts_.engine, parts_.client);
  }
  auto admission_router = std::make_shared<net::Router>();
  add_webhook_routes(*admission_router, parts_.engine);
  net::ServerOptions options{.address = settings.bind_address,
                             .port = static_cast<std::uint16_t>(settings.serving_port),
                             .on_refusal = count_refusals(parts_.metrics, "webhooks"),
                             .log = parts_.log.named("server")};
  limit_callers(options, settings.full_nodes);
  MW_TRY(webhooks, net::Server::start(options, handler_of(std::move(admission_router)),
                                      webhook_identity(bundle)));
  options.port = static_cast<std::uint16_t>(settings.extender_port);
  options.threads = 2;
  options.on_refusal = count_refusals(parts_.metrics, "extender");
  const auto identity = extender_identity(bundle, now());
  if (identity.client_ca_pem.empty()) {
    parts_.log.error(
        "the extender is not served: the supplied Secret has no ca.crt to check callers by", {});
  } else {
    MW_TRY(extender,
           net::Server::start(options, handler_of(std::move(scheduler_router)), identity));
    extender_ = std::move(extender);
  }
  webhooks_ = std::move(webhooks);
  return {};
}

void Servers::open_asking_port(const certs::Bundle& bundle) {
  const Settings& settings = parts_.settings;
  const std::string& ns = settings.leader_election_namespace;
  auto asking = std::make_unique<Asking>(parts_);
  asking->desk = std::make_unique<AskingDesk>(AskingDesk::Parts{
      .loop = parts_.client.loop(),
      .engine = parts_.engine,
      .check = [&rights = asking->rights](
                   std::string token,
                   std::string peer) { return rights.check(std::move(token), std::move(peer)); },
      .leads = [&leadership = parts_.leadership] { return leadership.holds(); },
      .lease = (ns.empty() ? settings.namespace_ : ns) + "/" + settings.leader_election_name,
      .console = settings.console});
  net::ServerOptions options{.address = settings.bind_address,
                             .port = static_cast<std::uint16_t>(settings.asking_port),
                             .on_refusal = count_refusals(parts_.metrics, "asking"),
                             .log = parts_.log.named("server")};
  limit_readers(options);
  options.stream_queue_limit = ConsoleFeed::kQueueLimit;
  auto server = net::Server::start(std::move(options), handler_of(asking->desk->router()),
                                   webhook_identity(bundle));
  if (!server) {
    parts_.log.error("questions are not answered", {{"error", server.error().message}});
    return;
  }
  asking->server = *std::move(server);
  asking_ = std::move(asking);
  parts_.log.info("answering questions", {{"port", std::to_string(asking_->server->port())}});
}

base::Result<> Servers::renew(const certs::Bundle& bundle) {
  auto renewed = webhooks_->set_identity(webhook_identity(bundle));
  if (renewed && asking_) {
    renewed = asking_->server->set_identity(webhook_identity(bundle));
  }
  const auto identity = extender_identity(bundle, now());
  // Without a CA the port would let everybody in: who was let in before still is.
  const bool checked = extender_ != nullptr && !identity.client_ca_pem.empty();
  return renewed && checked ? extender_->set_identity(identity) : renewed;
}

void Servers::use(const certs::Bundle& bundle,
                  const std::function<void(std::string_view)>& on_extender_call) {
  if (serving()) {
    if (const auto renewed = renew(bundle); !renewed) {
      parts_.log.error("the new certificate cannot be used", {{"error", renewed.error().message}});
    }
    return;
  }
  if (const auto opened = open_secure_ports(bundle, on_extender_call); !opened) {
    parts_.log.error("the extender and the webhooks cannot be served",
                     {{"error", opened.error().message}});
    return;
  }
  if (parts_.settings.asking_port != 0) {
    open_asking_port(bundle);
  }
  ready_ = true;
  parts_.log.info("serving the extender and the webhooks",
                  {{"port", std::to_string(webhooks_->port())},
                   {"extender-port", extender_ ? std::to_string(extender_->port()) : "none"}});
}

void Servers::stop(std::chrono::milliseconds grace) {
  for (const auto* server : {&extender_, &webhooks_}) {
    if (*server) {
      (*server)->stop(grace);
    }
  }
  if (asking_) {
    asking_->server->stop(grace);
  }
}

}  // namespace millwright::app
