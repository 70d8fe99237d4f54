// Reasons for which AWS ends an instance, or advises to: those that its events name, and those that
// the adapter finds itself (Karpenter's interruption controllers). Pure.
#pragma once

#include "millwright/cloud/provider.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::cloud::aws {

enum class InterruptionKind : std::uint8_t {
  None,  // not about an instance, or not understood
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
// The notice that the provider gives of the instance.
InstanceNotice notice_of(InterruptionKind kind, std::string provider_id);

// Passes on what was found of an instance. After an error nobody has acted on it, and it must be
// told again.
using TellInterruption = std::function<base::Task<base::Result<>>(
    InterruptionKind kind, std::string zone, std::string instance)>;

struct Interruption {
  InterruptionKind kind = InterruptionKind::None;
  std::vector<std::string> instances;  // "i-0123"
  std::optional<base::TimePoint> happened;
};
// An EventBridge event's JSON text.
Interruption parse_interruption(std::string_view body);

}  // namespace millwright::cloud::aws
