// The extender's and the webhooks' HTTP routes, as both `controller` and `sandbox` serve them.
#pragma once

#include "millwright/app/engine.hpp"
#include "millwright/net/server.hpp"

#include <functional>
#include <string_view>

namespace millwright::app {

inline constexpr std::string_view kExtenderPrefix = "/scheduler";

// POST /scheduler/{filter,prioritize,preempt}; GET is refused. `engine` must outlive the router.
// `on_call`, when given, is shown each request on the thread that answers it.
void add_extender_routes(net::Router& router, const Engine& engine,
                         const std::function<void(std::string_view)>& on_call = nullptr);
// POST /scheduler/bind: binds through `client`, on its loop.
void add_bind_route(net::Router& router, kube::Client& client);
// POST /mutate and /validate.
void add_webhook_routes(net::Router& router, const Engine& engine);

}  // namespace millwright::app
