#include "millwright/controllers/process/known_claims.hpp"

#include "millwright/controllers/process/sources.hpp"

#include <functional>
#include <map>
#include <string>
#include <utility>

namespace millwright::controllers {
namespace {

constexpr auto kListAgain = std::chrono::seconds(1);

// What the API server listed first of each claim, and still lists.
using Versions = std::map<std::string, std::string>;  // by uid

// An object that cannot be read never comes to be known.
bool is_known(cluster::State& state, const boost::json::value& object, const Versions& before,
              Versions& listed) {
  const auto claim = model::decode<model::NodeClaim>(object);
  if (!claim) {
    return true;
  }
  const auto first = before.find(claim->meta.uid);
  const auto [wanted, _] = listed.insert_or_assign(
      claim->meta.uid, first == before.end() ? claim->meta.resource_version : first->second);
  const auto record = state.find_claim(claim->meta.name);
  return record && record->claim->meta.uid == claim->meta.uid &&
         !model::is_lower_version(record->claim->meta.resource_version, wanted->second);
}

// False where nobody can say.
base::Task<bool> are_claims_known(Services& services, Versions* before, std::stop_token stop) {
  bool known = true;
  Versions listed;
  const std::function<void(kube::ListPage)> on_page = [&](const kube::ListPage& page) {
    known = known || page.first;
    for (const auto& object : page.items) {
      known = is_known(services.state, object, *before, listed) && known;
    }
  };
  kube::ListOptions options;
  const auto version = co_await services.client.list_pages(
      model::kNodeClaimResource, std::move(options), on_page, std::move(stop));
  if (!version) {
    co_return false;
  }
  *before = std::move(listed);
  co_return known;
}

}  // namespace

base::Task<void> wait_until_claims_are_known(Services& services, std::stop_token stop) {
  const base::TimePoint until = services.loop.now() + Sources::kLostFor;
  Versions listed;
  while (!stop.stop_requested() && services.loop.now() < until) {
    const bool known = co_await are_claims_known(services, &listed, stop);
    if (known) {
      co_return;
    }
    co_await base::sleep(services.loop, kListAgain, stop);
  }
}

}  // namespace millwright::controllers
