#include "millwright/controllers/nodeclaim/interruption.hpp"

#include "controllers/nodeclaim/forced_end.hpp"
#include "millwright/base/mutant.hpp"

#include <algorithm>

namespace millwright::controllers {
namespace {

using Action = cloud::InstanceNotice::Action;

// Success also when the claim is gone already.
base::Task<base::Result<>> end_claim(Services& services, ClaimPtr claim,
                                     cloud::InstanceNotice notice) {
  if (!claim->meta.is_deleting()) {
    MW_CO_CHECK(co_await delete_claim(services, claim, notice.kind));
  }
  if (notice.action == Action::Force) {
    co_return co_await end_drain_time(services, claim);
  }
  co_return base::Result<>{};
}

}  // namespace

ClaimPtr claim_to_act_on(const scheduling::Snapshot& snapshot, const cloud::InstanceNotice& notice,
                         base::TimePoint now) {
  const auto found =
      std::find_if(snapshot.nodes.begin(), snapshot.nodes.end(), [&](const auto& record) {
        return record->claim && record->claim->provider_id == notice.provider_id;
      });
  if (found == snapshot.nodes.end()) {
    return nullptr;
  }
  const auto& claim = (*found)->claim;
  const bool can_hasten = notice.action == Action::Force && !is_out_of_time(*claim, now);
  return claim->meta.is_deleting() && !can_hasten ? nullptr : claim;
}

bool may_be_of_a_launch(const scheduling::Snapshot& snapshot, const cloud::InstanceNotice& notice) {
  bool launching = false;
  for (const auto& record : snapshot.nodes) {
    if (record->claim && record->claim->provider_id == notice.provider_id) {
      return false;
    }
    launching = launching || (record->claim && record->claim->provider_id.empty() &&
                              !record->claim->meta.is_deleting());
  }
  return launching;
}

base::Task<base::Result<>> act_on_notice(Services& all_services, ClaimPtr claim,
                                         cloud::InstanceNotice notice) {
  Services services =
      all_services.logging_to(all_services.log.with({{"controller", "interruption"}}));
  services.events.record({.object = kube::reference_to(model::kNodeClaimResource, claim->meta),
                          .warning = notice.action != Action::Tell,
                          .reason = notice.reason,
                          .message = notice.message,
                          .dedupe_values = {}});
  if (notice.action == Action::Tell) {
    co_return base::Result<>{};
  }
  auto done = co_await end_claim(services, claim, notice);
  if (!done) {
    services.log.error("ending the instance of a nodeclaim failed",
                       {{"NodeClaim", claim->meta.name},
                        {"reason", notice.kind},
                        {"error", done.error().message}});
    if (base::planted(base::Mutant::NoticesAcknowledged)) {
      co_return base::Result<>{};
    }
  }
  co_return done;
}

}  // namespace millwright::controllers
