#include "app/serving/servers.hpp"

#include "app/serving/serving.hpp"
#include "app/serving/stop_servers.hpp"

#include <string>
#include <utility>
#include <vector>

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

net::ServerOptions Servers::options_of(int port, const std::string& server) const {
  net::ServerOptions options{.address = parts_.settings.bind_address,
                             .port = static_cast<std::uint16_t>(port),
                             .on_refusal = count_refusals(parts_.metrics, server),
                             .log = parts_.log.named("server")};
  limit_callers(options, parts_.settings.full_nodes);
  return options;
}

base::Result<> Servers::open_webhooks(const certs::Bundle& bundle) {
  auto router = std::make_shared<net::Router>();
  add_webhook_routes(*router, parts_.engine);
  MW_TRY(server, net::Server::start(options_of(parts_.settings.serving_port, "webhooks"),
                                    handler_of(std::move(router)), webhook_identity(bundle)));
  webhooks_ = std::move(server);
  return {};
}

base::Result<> Servers::open_extender(net::TlsIdentity identity, const OnCall& on_extender_call) {
  auto router = std::make_shared<net::Router>();
  add_extender_routes(*router, parts_.engine,
                      {.on_call = on_extender_call,
                       .leads = [&leadership = parts_.leadership] { return leadership.holds(); }});
  if (parts_.settings.serve_bind) {
    add_bind_route(*router, parts_.engine, parts_.client);
  }
  net::ServerOptions options = options_of(parts_.settings.extender_port, "extender");
  options.threads = 2;
  MW_TRY(server, net::Server::start(std::move(options), handler_of(std::move(router)),
                                    std::move(identity)));
  extender_ = std::move(server);
  return {};
}

base::Result<> Servers::open_secure_ports(const certs::Bundle& bundle,
                                          const OnCall& on_extender_call) {
  if (!webhooks_) {
    if (auto opened = open_webhooks(bundle); !opened) {
      return opened;
    }
  }
  if (extender_) {
    return {};
  }
  auto identity = extender_identity(bundle, now());
  if (identity.client_ca_pem.empty()) {
    parts_.log.error(
        "the extender is not served: the supplied Secret has no ca.crt to check callers by", {});
    return {};
  }
  return open_extender(std::move(identity), on_extender_call);
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

void Servers::retire() {
  retired_ = true;
  ready_ = false;
}

void Servers::use(const certs::Bundle& bundle, const OnCall& on_extender_call) {
  if (retired_) {
    return;
  }
  const bool first = !serving();
  if (!first) {
    if (const auto renewed = renew(bundle); !renewed) {
      parts_.log.error("the new certificate cannot be used", {{"error", renewed.error().message}});
    }
  }
  const bool had_extender = serving_extender();
  if (const auto opened = open_secure_ports(bundle, on_extender_call); !opened) {
    tell_closed(opened.error());
  }
  if (!serving()) {
    return;
  }
  if (first && parts_.settings.asking_port != 0) {
    open_asking_port(bundle);
  }
  if (first || serving_extender() != had_extender) {
    ready_ = true;
    parts_.log.info("serving the extender and the webhooks",
                    {{"port", std::to_string(webhooks_->port())},
                     {"extender-port", extender_ ? std::to_string(extender_->port()) : "none"}});
  }
}

// A certificate is judged before its port is opened. To start anew would read the same one again.
void Servers::tell_closed(const base::Error& error) {
  if (error.kind == base::ErrorKind::Unavailable) {
    parts_.on_closed("the extender and the webhooks cannot be served: " + error.message);
    return;
  }
  parts_.log.error(serving() ? "the extender is not served: its certificates cannot be used"
                             : "nothing is served: the certificate cannot be used",
                   {{"error", error.message}});
}

base::Task<void> Servers::stop(std::chrono::milliseconds grace) {
  retire();
  std::vector<net::Server*> open;
  for (net::Server* server :
       {extender_.get(), webhooks_.get(), asking_ ? asking_->server.get() : nullptr}) {
    if (server != nullptr) {
      open.push_back(server);
    }
  }
  co_await stop_servers(&parts_.client.loop(), std::move(open), grace);
}

}  // namespace millwright::app
