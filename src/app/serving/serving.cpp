#include "app/serving/serving.hpp"

namespace millwright::app {
namespace {

constexpr std::size_t kMiB = 1U << 20;
// More than 30,000 names of nodes and a large pod.
constexpr std::size_t kNamesLimit = 2 * kMiB;
// A NodeList of some thousand full Nodes.
constexpr std::size_t kFullNodesLimit = 64 * kMiB;
// An AdmissionReview holds two versions of an object, and the API server takes 3 MiB for one.
constexpr std::size_t kReviewLimit = 8 * kMiB;
constexpr std::size_t kNoBody = 4U << 10;

template <class Answer>
auto post_only(Answer answer) {
  return [answer](const net::Request& request) {
    if (request.method != "POST") {
      return net::Response::text(405, "only POST is answered here\n");
    }
    auto reply = answer(request.body);
    return net::Response::json(reply.status, std::move(reply.body));
  };
}

net::Response not_the_leader() {
  auto response =
      net::Response::text(503, "another replica leads; call Service millwright-extender\n");
  response.headers.set("Connection", "close");
  return response;
}

}  // namespace

net::TlsIdentity webhook_identity(const certs::Bundle& bundle) {
  return {.certificate_pem = bundle.leaf.certificate_pem,
          .key_pem = bundle.leaf.key_pem,
          .client_ca_pem = {}};
}

net::TlsIdentity extender_identity(const certs::Bundle& bundle, base::TimePoint now) {
  net::TlsIdentity identity = webhook_identity(bundle);
  identity.client_ca_pem = bundle.trust_pem(now);
  return identity;
}

net::Handler handler_of(std::shared_ptr<net::Router> router) {
  return
      [router = std::move(router)](net::Request request, std::shared_ptr<net::Exchange> exchange) {
        router->handle(std::move(request), std::move(exchange));
      };
}

void add_extender_routes(net::Router& router, const Engine& engine, const ExtenderDoor& door) {
  const auto& extender = engine.extender();
  const auto add = [&](std::string_view path,
                       extender::Reply (extender::Extender::*verb)(std::string_view) const) {
    const auto answer = post_only([&extender, verb, door](std::string_view body) {
      if (door.on_call) {
        door.on_call(body);
      }
      return (extender.*verb)(body);
    });
    router.add_sync(std::string(kExtenderPrefix).append(path),
                    [answer, leads = door.leads](const net::Request& request) {
                      return leads && !leads() ? not_the_leader() : answer(request);
                    });
  };
  add("/filter", &extender::Extender::filter);
  add("/prioritize", &extender::Extender::prioritize);
  add("/preempt", &extender::Extender::preempt);
}

namespace {

base::Task<void> perform_bind(kube::Client& client, base::Result<> allowed,
                              extender::Binding binding, std::shared_ptr<net::Exchange> exchange) {
  std::string error = allowed ? std::string() : allowed.error().message;
  if (allowed) {
    const auto bound = co_await client.bind(binding.pod, binding.pod_uid, binding.node);
    error = bound ? std::string() : bound.error().message;
  }
  exchange->respond(net::Response::json(200, extender::binding_result(error)));
}

}  // namespace

void add_bind_route(net::Router& router, Engine& engine, kube::Client& client) {
  auto group = std::make_shared<base::TaskGroup>(client.loop());
  router.add(
      std::string(kExtenderPrefix) + "/bind",
      [&engine, &client, group](net::Request request, std::shared_ptr<net::Exchange> exchange) {
        auto binding = extender::parse_binding(request.body);
        if (!binding) {
          exchange->respond(
              net::Response::json(400, extender::binding_result(binding.error().message)));
          return;
        }
        client.loop().post([&engine, &client, group, exchange, binding = *std::move(binding)] {
          auto allowed = extender::check_binding(binding, *engine.state().snapshot(),
                                                 engine.ledger(), client.loop().now());
          group->spawn(perform_bind(client, std::move(allowed), binding, exchange));
        });
      });
}

void add_webhook_routes(net::Router& router, const Engine& engine) {
  const auto& admission = engine.admission();
  router.add_sync("/mutate",
                  post_only([&](std::string_view body) { return admission.mutate(body); }));
  router.add_sync("/validate",
                  post_only([&](std::string_view body) { return admission.validate(body); }));
}

void limit_callers(net::ServerOptions& options, bool full_nodes) {
  options.body_limit = kNoBody;
  options.body_limits = {{std::string(kExtenderPrefix), full_nodes ? kFullNodesLimit : kNamesLimit},
                         {"/mutate", kReviewLimit},
                         {"/validate", kReviewLimit}};
  options.bytes_in_flight = full_nodes ? 2 * kFullNodesLimit : 4 * kReviewLimit;
  options.max_connections = 512;
  options.max_connections_per_address = 256;
}

void limit_readers(net::ServerOptions& options) {
  options.body_limit = kNoBody;
  options.bytes_in_flight = kMiB;
  // Each may hold a page of metrics that it does not read.
  options.max_connections = 64;
  options.max_connections_per_address = 32;
}

}  // namespace millwright::app
