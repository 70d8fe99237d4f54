// What the HTTPS ports of the extender and of the webhooks answer, and whom, as both `controller`
// and `sandbox` serve them. They are two ports because their callers differ: kube-scheduler shows a
// certificate, the API server has none to show. And how much callers may make the process hold.
#pragma once

#include "millwright/app/engine.hpp"
#include "millwright/certs/certs.hpp"
#include "millwright/net/server.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

namespace millwright::app {

inline constexpr std::string_view kExtenderPrefix = "/scheduler";

// Anybody may call: whoever may reach the port can only ask what the API server would answer too.
net::TlsIdentity webhook_identity(const certs::Bundle& bundle);
// A caller must show a client certificate of a CA that is trusted now.
net::TlsIdentity extender_identity(const certs::Bundle& bundle, base::TimePoint now);
// Gives a request to the router.
net::Handler handler_of(std::shared_ptr<net::Router> router);

// Both are called on the thread that answers, and may be empty.
struct ExtenderDoor {
  std::function<void(std::string_view request)> on_call;  // sees each request that is answered
  // Whether this replica may answer. If not, the answer is 503 and ends the connection:
  // kube-scheduler would keep it for ever, and its next one is to the leader.
  std::function<bool()> leads;
};
// POST /scheduler/{filter,prioritize,preempt}; GET is refused. `engine` must outlive the router.
void add_extender_routes(net::Router& router, const Engine& engine, const ExtenderDoor& door = {});
// POST /scheduler/bind: binds through `client`, on its loop, what the engine's filter let through
// (extender::check_binding).
void add_bind_route(net::Router& router, Engine& engine, kube::Client& client);
// POST /mutate and /validate.
void add_webhook_routes(net::Router& router, const Engine& engine);

// Limits for the port of these routes. A request of names is below 2 MiB; `full_nodes` lets the
// extender take 64 MiB, for a kube-scheduler that sends whole Nodes (nodeCacheCapable: false).
void limit_callers(net::ServerOptions& options, bool full_nodes);
// Limits for a plain port, which is only read from.
void limit_readers(net::ServerOptions& options);

}  // namespace millwright::app
