// What happens to instances: events from an SQS queue that EventBridge fills, and what the adapter
// sees itself (Karpenter's interruption controllers).
#pragma once

#include "millwright/cloud/provider.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::cloud::aws {

enum class InterruptionKind : std::uint8_t {
  None,  // nothing for us, or not understood
  SpotInterrupted,
  RebalanceRecommended,
  InstanceStopped,
  InstanceTerminated,
  ScheduledChange,
  ReservationInterrupted,
  BlockExpiring,
  InstanceCheckFailed,
  SystemCheckFailed,
  EventPlanned,
};
// Karpenter's label value: "spot_interrupted", "no_op", ...
std::string_view to_string(InterruptionKind kind);
// What to say of the instance, and to do.
InstanceNotice notice_of(InterruptionKind kind, std::string provider_id);

struct Interruption {
  InterruptionKind kind = InterruptionKind::None;
  std::vector<std::string> instances;  // "i-0123"
  std::optional<base::TimePoint> happened;
};
// An EventBridge event's JSON text.
Interruption parse_interruption(std::string_view body);

}  // namespace millwright::cloud::aws
