#include "millwright/controllers/nodeclaim/interruption.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace millwright::controllers {
namespace {

namespace json = boost::json;
using Action = cloud::InstanceNotice::Action;
using ClaimPtr = std::shared_ptr<const model::NodeClaim>;

bool has_wall(const model::NodeClaim& claim) {
  return !claim.meta.annotation(model::kTerminationTimestampAnnotation).empty();
}

// Success also when the claim is gone already.
base::Task<base::Result<>> end_claim(Services& services, ClaimPtr claim,
                                     cloud::InstanceNotice notice) {
  if (notice.action == Action::Force && !has_wall(*claim)) {
    const std::string now = base::format_rfc3339(services.loop.now());
    json::object metadata{{"annotations", {{model::kTerminationTimestampAnnotation, now}}}};
    auto stamped =
        co_await patch_claim(services, claim, ClaimPatch::of_metadata(std::move(metadata)));
    if (!stamped) {
      co_return ignore_not_found(stamped);
    }
    claim = *std::move(stamped);
  }
  if (claim->meta.is_deleting()) {
    co_return base::Result<>{};
  }
  co_return co_await delete_claim(services, claim, notice.kind);
}

}  // namespace

ClaimPtr claim_to_act_on(const scheduling::Snapshot& snapshot,
                         const cloud::InstanceNotice& notice) {
  const auto found =
      std::find_if(snapshot.nodes.begin(), snapshot.nodes.end(), [&](const auto& record) {
        return record->claim && record->claim->provider_id == notice.provider_id;
      });
  if (found == snapshot.nodes.end()) {
    return nullptr;
  }
  const auto& claim = (*found)->claim;
  const bool can_hasten = notice.action == Action::Force && !has_wall(*claim);
  return claim->meta.is_deleting() && !can_hasten ? nullptr : claim;
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
  }
  co_return done;
}

}  // namespace millwright::controllers
