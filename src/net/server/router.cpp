#include "millwright/net/server.hpp"
#include "net/server/paths.hpp"

#include <algorithm>

namespace millwright::net {

void Router::add(std::string prefix, Handler handler) {
  while (prefix.ends_with('/')) {
    prefix.pop_back();
  }
  // Longest first, so that the first match is the best one.
  const auto place = std::find_if(routes_.begin(), routes_.end(), [&](const auto& route) {
    return route.first.size() < prefix.size();
  });
  routes_.emplace(place, std::move(prefix), std::move(handler));
}

void Router::add_sync(std::string prefix, std::function<Response(const Request&)> handler) {
  add(std::move(prefix), [answer = std::move(handler)](const Request& request,
                                                       const std::shared_ptr<Exchange>& exchange) {
    exchange->respond(answer(request));
  });
}

void Router::handle(Request request, std::shared_ptr<Exchange> exchange) const {
  const std::string_view path = request.path();
  for (const auto& [prefix, handler] : routes_) {
    if (covers(prefix, path)) {
      handler(std::move(request), std::move(exchange));
      return;
    }
  }
  exchange->respond(Response::text(404, "404 page not found\n"));
}

}  // namespace millwright::net
