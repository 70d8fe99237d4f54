#include "app/engine/leading.hpp"

#include "millwright/base/mutant.hpp"

#include <utility>

namespace millwright::app {
namespace {

// How long kube-scheduler's calls may still go elsewhere once the endpoint is written: kube-proxy
// follows within a second or two, and a call that hangs has a time limit of two.
constexpr auto kLedWithin = std::chrono::seconds(5);

}  // namespace

Leading::Leading(LeadingParts parts) : parts_(std::move(parts)) {
  if (parts_.endpoint) {
    endpoint_ = std::make_unique<controllers::ExtenderEndpoint>(
        parts_.client, *parts_.endpoint,
        [this] { return parts_.serving() && parts_.engine.state().latest()->synced; },
        [this] { expect_unseen_attempts(); });
  }
}

base::Task<void> Leading::run(std::stop_token stop) {
  expect_unseen_attempts();
  base::TaskGroup work(parts_.loop);
  work.spawn(parts_.engine.lead(stop));
  if (endpoint_) {
    work.spawn(endpoint_->run(stop));
  }
  co_await work.join();
}

// The leader before, or nobody, answered kube-scheduler until now.
void Leading::expect_unseen_attempts() {
  if (base::planted(base::Mutant::NewLeaderKnowsAll)) {
    return;
  }
  parts_.engine.ledger().expect_unseen(parts_.loop.now() + kLedWithin +
                                       cluster::Ledger::kPassLifetime);
}

}  // namespace millwright::app
