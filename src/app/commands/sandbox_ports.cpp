#include "app/commands/sandbox_ports.hpp"

#include "app/console/console_feed.hpp"
#include "app/console/console_routes.hpp"
#include "app/serving/serving.hpp"
#include "millwright/base/base64.hpp"
#include "millwright/certs/certs.hpp"
#include "millwright/model/kinds.hpp"

#include <boost/json.hpp>

#include <utility>

namespace millwright::app {
namespace {

namespace json = boost::json;

constexpr auto kSandboxPicture = std::chrono::seconds(1);  // of real time between two pictures
constexpr auto kSandboxGoodbye = std::chrono::milliseconds(500);

base::Task<std::optional<net::Response>> let_everybody_in(std::string /*token*/,
                                                          std::string /*peer*/) {
  co_return std::nullopt;
}

base::Task<std::optional<net::Response>> check_sandbox_token(std::string token,
                                                             std::string expected) {
  if (net::is_same_secret(token, expected)) {
    co_return std::nullopt;
  }
  co_return net::Response::text(401, "this is not the token of the sandbox's kubeconfig\n");
}

AskingDesk::Parts desk_parts(EmbeddedCluster& cluster, double speed, CheckCaller check) {
  return {.loop = cluster.client().loop(),
          .engine = cluster.engine(),
          .check = std::move(check),
          .leads = [] { return true; },
          .lease = {},
          .console = true,
          .pace = std::chrono::duration_cast<base::Duration>(kSandboxPicture * speed)};
}

// Secret millwright-certs, so that people get the CA as from an installation.
base::Result<> store_ca(sandbox::ApiServer& api, const std::string& ca_pem) {
  const auto stored =
      api.create(model::kNamespaceResource,
                 json::object{{"metadata", json::object{{"name", kSandboxNamespace}}}})
          .and_then([&](const sandbox::Object& /*namespace*/) {
            return api.create(
                model::kSecretResource,
                json::object{{"metadata", json::object{{"namespace", kSandboxNamespace},
                                                       {"name", kSandboxSecret}}},
                             {"type", "Opaque"},
                             {"data", json::object{{"ca.crt", base::encode_base64(ca_pem)}}}});
          });
  if (!stored) {
    return tl::unexpected(stored.error());
  }
  return {};
}

}  // namespace

SandboxConsole::SandboxConsole(EmbeddedCluster& cluster, double speed)
    : what_if_(cluster.client()),
      desk_(desk_parts(cluster, speed, let_everybody_in)),
      router_(desk_.router()) {}

SandboxConsole::~SandboxConsole() {
  if (door_) {
    door_->stop(kSandboxGoodbye);
  }
}

base::Result<std::unique_ptr<SandboxConsole>> SandboxConsole::open(EmbeddedCluster& cluster,
                                                                   double speed,
                                                                   std::uint16_t port) {
  std::unique_ptr<SandboxConsole> made(new SandboxConsole(cluster, speed));
  MW_TRY(door,
         ConsoleDoor::open(
             cluster.client().loop(), port,
             [console = made.get()](net::Request request, std::shared_ptr<net::Exchange> exchange) {
               if (request.path() == kWhatIfPath) {
                 console->what_if_.answer(request, std::move(exchange));
               } else {
                 console->router_->handle(std::move(request), std::move(exchange));
               }
             }));
  made->door_ = std::move(door);
  return made;
}

SandboxAskingPort::SandboxAskingPort(EmbeddedCluster& cluster, double speed)
    : desk_(desk_parts(cluster, speed,
                       [expected = cluster.endpoint()->token()](std::string token, std::string) {
                         return check_sandbox_token(std::move(token), expected);
                       })) {}

SandboxAskingPort::~SandboxAskingPort() {
  if (server_) {
    server_->stop(kSandboxGoodbye);
  }
}

base::Result<> SandboxAskingPort::serve(sandbox::ApiServer& api, std::uint16_t port) {
  const base::TimePoint now = base::system_now();
  const certs::Policy policy{.common_name = "millwright-sandbox",
                             .dns_names = {"localhost"},
                             .ip_addresses = {"127.0.0.1"}};
  MW_TRY(bundle, certs::reconcile(std::nullopt, policy, now));
  net::ServerOptions options{.address = "127.0.0.1", .port = port};
  limit_readers(options);
  options.stream_queue_limit = ConsoleFeed::kQueueLimit;
  MW_TRY(server, net::Server::start(std::move(options), handler_of(desk_.router()),
                                    webhook_identity(bundle)));
  server_ = std::move(server);
  return store_ca(api, bundle.trust_pem(now));
}

base::Result<std::unique_ptr<SandboxAskingPort>> SandboxAskingPort::open(EmbeddedCluster& cluster,
                                                                         double speed,
                                                                         std::uint16_t port) {
  std::unique_ptr<SandboxAskingPort> made(new SandboxAskingPort(cluster, speed));
  const auto served = made->serve(cluster.world().api(), port);
  if (!served) {
    return tl::unexpected(served.error());
  }
  return made;
}

base::Result<std::unique_ptr<net::Server>> open_sandbox_metrics(EmbeddedCluster& cluster,
                                                                std::uint16_t port) {
  auto router = std::make_shared<net::Router>();
  router->add_sync("/metrics", [&engine = cluster.engine()](const net::Request&) {
    return net::Response::text(200, engine.metrics_page());
  });
  net::ServerOptions options{.address = "127.0.0.1", .port = port, .tls = false};
  limit_readers(options);
  return net::Server::start(std::move(options), handler_of(std::move(router)));
}

}  // namespace millwright::app
