// Events about instances from an SQS queue that EventBridge fills: what each says, and who hears of
// it (Karpenter's interruption controller).
#pragma once

#include <cstdint>
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
};
// Karpenter's label value: "spot_interrupted", "no_op", ...
std::string_view to_string(InterruptionKind kind);
// The instance will go: its node is to be drained now.
bool ends_instance(InterruptionKind kind);

struct Interruption {
  InterruptionKind kind = InterruptionKind::None;
  std::vector<std::string> instances;  // "i-0123"
};
// An EventBridge event's JSON text.
Interruption parse_interruption(std::string_view body);

}  // namespace millwright::cloud::aws
