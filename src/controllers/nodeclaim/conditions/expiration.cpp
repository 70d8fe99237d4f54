#include "controllers/nodeclaim/conditions/expiration.hpp"

#include "millwright/controllers/buffers/buffer_room.hpp"
#include "millwright/disruption/expiration.hpp"
#include "millwright/scheduling/solve.hpp"

#include <algorithm>

namespace millwright::controllers {
namespace {

// As long as disruption waits for a replacement.
constexpr auto kLongestMove = std::chrono::minutes(10);
// As often as is said of other nodes why they stay.
constexpr auto kSayExpirationWaits = std::chrono::minutes(15);

}  // namespace

std::optional<base::TimePoint> expiry_of(const model::NodeClaim& claim) {
  const auto lifetime = claim.expire_after.value();
  const auto created = claim.meta.creation_timestamp;
  return lifetime && created ? base::sum_of(*created, *lifetime) : std::nullopt;
}

base::TimePoint expiration_begin(const Services& services, const model::NodeClaim& claim,
                                 base::TimePoint expiry) {
  const auto pool = find_pool(*services.state.snapshot(), claim.meta.label(model::kNodePoolLabel));
  if (!pool) {
    return expiry;
  }
  // A window that closes while room for buffers is looked for does not end the removal.
  return disruption::expiration_begin(claim, disruption::parse_preferences(pool->meta.annotations),
                                      expiry, services.loop.now() - kLongestMove);
}

void tell_expiration_waits(Services& services, const scheduling::NodeRecord& record,
                           base::TimePoint begin) {
  kube::Event event{.object = kube::reference_to(model::kNodeClaimResource, record.claim->meta),
                    .warning = false,
                    .reason = "DisruptionBlocked",
                    .message = "It has expired and goes at " + base::format_rfc3339(begin) +
                               ", because of the annotation " +
                               std::string(model::kExpirationWindowsAnnotation) +
                               " of its NodePool",
                    .dedupe_values = {},
                    .dedupe_for = kSayExpirationWaits};
  services.events.record(event);
  if (record.node) {
    event.object = kube::reference_to(model::kNodeResource, record.node->meta);
    services.events.record(std::move(event));
  }
}

bool awaits_buffer_room(const Services& services, const scheduling::NodeRecord& record,
                        base::TimePoint begin) {
  const bool has_pods = std::any_of(record.pods.begin(), record.pods.end(), [](const auto& pod) {
    return scheduling::is_reschedulable(*pod);
  });
  if (services.buffers == nullptr || has_pods || services.loop.now() >= begin + kLongestMove) {
    return false;
  }
  const auto snapshot = services.state.snapshot();
  if (!services.buffers->all_planned(*snapshot)) {
    return true;
  }
  return record.marked_for_deletion ? !services.buffers->all_up(*snapshot)
                                    : services.buffers->nodes(*snapshot).contains(record.name());
}

}  // namespace millwright::controllers
