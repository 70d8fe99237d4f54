#include "millwright/controllers/process/caught_up.hpp"

#include "millwright/controllers/process/sources.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace millwright::controllers {
namespace {

constexpr auto kListAgain = std::chrono::seconds(1);

// What the API server listed first of each object, and still lists.
using Versions = std::map<std::string, std::string>;  // by uid

std::shared_ptr<const model::NodeClaim> find_known(const cluster::State& state,
                                                   const model::NodeClaim& listed) {
  return state.joined_by_claim(listed.meta.name).claim;
}

std::shared_ptr<const model::Node> find_known(const cluster::State& state,
                                              const model::Node& listed) {
  return state.joined_by_node(listed.meta.name).node;
}

// An object that cannot be read never comes to be known.
template <class T>
bool is_known(const cluster::State& state, const boost::json::value& object, const Versions& before,
              Versions& listed) {
  const auto decoded = model::decode<T>(object);
  if (!decoded) {
    return true;
  }
  const model::ObjectMeta& meta = decoded->meta;
  const auto first = before.find(meta.uid);
  const auto [wanted, _] = listed.insert_or_assign(
      meta.uid, first == before.end() ? meta.resource_version : first->second);
  const auto known = find_known(state, *decoded);
  return known && known->meta.uid == meta.uid &&
         !model::is_lower_version(known->meta.resource_version, wanted->second);
}

// False where nobody can say.
template <class T>
base::Task<bool> are_all_known(Services& services, model::Resource resource, Versions* before,
                               std::stop_token stop) {
  bool known = true;
  Versions listed;
  const std::function<void(kube::ListPage)> on_page = [&](const kube::ListPage& page) {
    known = known || page.first;
    for (const auto& object : page.items) {
      known = is_known<T>(services.state, object, *before, listed) && known;
    }
  };
  kube::ListOptions options;
  const auto version =
      co_await services.client.list_pages(resource, std::move(options), on_page, std::move(stop));
  if (!version) {
    co_return false;
  }
  *before = std::move(listed);
  co_return known;
}

template <class T>
base::Task<void> wait_until_known(Services& services, model::Resource resource,
                                  base::TimePoint until, std::stop_token stop) {
  Versions listed;
  bool told = false;
  while (!stop.stop_requested() && services.loop.now() < until) {
    const bool known = co_await are_all_known<T>(services, resource, &listed, stop);
    if (known) {
      co_return;
    }
    if (!std::exchange(told, true)) {
      services.log.info("waiting until the watch shows what the API server lists, before acting",
                        {{"resource", std::string(resource.plural)}});
    }
    co_await base::sleep(services.loop, kListAgain, stop);
  }
  if (!stop.stop_requested()) {
    services.log.warn("the watch does not show all that the API server lists; acting nevertheless",
                      {{"resource", std::string(resource.plural)}});
  }
}

}  // namespace

base::Task<void> wait_until_caught_up(Services& services, std::stop_token stop) {
  const base::TimePoint until = services.loop.now() + Sources::kLostFor;
  co_await wait_until_known<model::NodeClaim>(services, model::kNodeClaimResource, until, stop);
  co_await wait_until_known<model::Node>(services, model::kNodeResource, until, std::move(stop));
}

}  // namespace millwright::controllers
