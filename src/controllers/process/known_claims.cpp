#include "millwright/controllers/process/known_claims.hpp"

#include "millwright/controllers/process/sources.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace millwright::controllers {
namespace {

constexpr auto kListAgain = std::chrono::seconds(1);

// One that cannot be read never comes to be known.
bool is_known(cluster::State& state, const boost::json::value& object) {
  const auto claim = model::decode<model::NodeClaim>(object);
  if (!claim) {
    return true;
  }
  const auto record = state.find_claim(claim->meta.name);
  return record && record->claim->meta.uid == claim->meta.uid;
}

// False where nobody can say.
base::Task<bool> are_claims_known(Services& services, std::stop_token stop) {
  bool known = true;
  const std::function<void(kube::ListPage)> on_page = [&](const kube::ListPage& page) {
    known = (known || page.first) &&
            std::all_of(page.items.begin(), page.items.end(),
                        [&](const auto& object) { return is_known(services.state, object); });
  };
  kube::ListOptions options;
  const auto listed = co_await services.client.list_pages(
      model::kNodeClaimResource, std::move(options), on_page, std::move(stop));
  co_return listed&& known;
}

}  // namespace

base::Task<void> wait_until_claims_are_known(Services& services, std::stop_token stop) {
  const base::TimePoint until = services.loop.now() + Sources::kLostFor;
  while (!stop.stop_requested() && services.loop.now() < until) {
    const bool known = co_await are_claims_known(services, stop);
    if (known) {
      co_return;
    }
    co_await base::sleep(services.loop, kListAgain, stop);
  }
}

}  // namespace millwright::controllers
