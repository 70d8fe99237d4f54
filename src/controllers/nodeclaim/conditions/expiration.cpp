#include "controllers/nodeclaim/conditions/expiration.hpp"

#include "millwright/controllers/buffers/buffer_room.hpp"
#include "millwright/scheduling/solve.hpp"

#include <algorithm>

namespace millwright::controllers {
namespace {

// As long as disruption waits for a replacement.
constexpr auto kLongestMove = std::chrono::minutes(10);

}  // namespace

std::optional<base::TimePoint> expiry_of(const model::NodeClaim& claim) {
  const auto lifetime = claim.expire_after.value();
  const auto created = claim.meta.creation_timestamp;
  return lifetime && created ? base::sum_of(*created, *lifetime) : std::nullopt;
}

bool awaits_buffer_room(const Services& services, const scheduling::NodeRecord& record,
                        base::TimePoint expiry) {
  const bool has_pods = std::any_of(record.pods.begin(), record.pods.end(), [](const auto& pod) {
    return scheduling::is_reschedulable(*pod);
  });
  if (services.buffers == nullptr || has_pods || services.loop.now() >= expiry + kLongestMove) {
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
