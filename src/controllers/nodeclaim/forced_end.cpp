#include "controllers/nodeclaim/forced_end.hpp"

namespace millwright::controllers {

bool is_out_of_time(const model::NodeClaim& claim, base::TimePoint now) {
  const auto wall =
      base::parse_rfc3339(claim.meta.annotation(model::kTerminationTimestampAnnotation));
  return wall && *wall <= now;
}

ClaimReply end_drain_time(Services& services, ClaimPtr claim) {
  if (is_out_of_time(*claim, services.loop.now())) {
    co_return claim;
  }
  const std::string now = base::format_rfc3339(services.loop.now());
  boost::json::object metadata{{"annotations", {{model::kTerminationTimestampAnnotation, now}}}};
  co_return co_await patch_claim(services, claim, ClaimPatch::of_metadata(std::move(metadata)));
}

}  // namespace millwright::controllers
