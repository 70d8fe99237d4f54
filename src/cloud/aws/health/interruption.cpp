#include "cloud/aws/health/interruption.hpp"

#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <array>

namespace millwright::cloud::aws {
namespace {

namespace json = boost::json;

struct EventSource {
  std::string_view source;
  std::string_view detail_type;
  InterruptionKind kind;
};
constexpr std::array<EventSource, 5> kEventSources{
    {{"aws.ec2", "EC2 Spot Instance Interruption Warning", InterruptionKind::SpotInterrupted},
     {"aws.ec2", "EC2 Instance Rebalance Recommendation", InterruptionKind::RebalanceRecommended},
     {"aws.ec2", "EC2 Instance State-change Notification", InterruptionKind::InstanceStopped},
     {"aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning",
      InterruptionKind::ReservationInterrupted},
     {"aws.health", "AWS Health Event", InterruptionKind::ScheduledChange}}};

InterruptionKind kind_of_state(std::string_view state) {
  if (state == "stopping" || state == "stopped") {
    return InterruptionKind::InstanceStopped;
  }
  return state == "shutting-down" || state == "terminated" ? InterruptionKind::InstanceTerminated
                                                           : InterruptionKind::None;
}

std::vector<std::string> affected_instances(const json::value& detail) {
  std::vector<std::string> ids;
  const auto* entities = model::find_path(detail, "affectedEntities");
  if (entities != nullptr && entities->is_array()) {
    for (const auto& entity : entities->get_array()) {
      if (const auto id = model::text_at(entity, "entityValue"); id.starts_with("i-")) {
        ids.emplace_back(id);
      }
    }
  }
  return ids;
}

using Action = InstanceNotice::Action;
struct Wording {
  std::string_view kind;
  std::string_view reason;
  std::string_view message;
  Action action;
};
const Wording& wording_of(InterruptionKind kind) {
  static constexpr std::array<Wording, 11> kWordings{
      {{"no_op", "", "", Action::Tell},
       {"spot_interrupted", "SpotInterrupted", "EC2 is about to take the spot instance back",
        Action::Drain},
       {"rebalance_recommendation", "SpotRebalanceRecommendation",
        "EC2 is likely to take the spot instance back soon", Action::Tell},
       {"instance_stopped", "InstanceStopping", "The instance is being stopped", Action::Drain},
       {"instance_terminated", "InstanceTerminating", "The instance is being terminated",
        Action::Drain},
       {"scheduled_change", "InstanceUnhealthy", "AWS has scheduled a change of the instance",
        Action::Drain},
       {"capacity_reservation_interrupted", "CapacityReservationInstanceInterrupted",
        "EC2 is about to take the instance of an interruptible reservation back", Action::Drain},
       {"capacity_block_expiring", "CapacityBlockExpiring",
        "The capacity block ends soon, and EC2 the instance with it", Action::Drain},
       {"instance_status", "InstanceUnhealthy", "The instance fails EC2's instance status check",
        Action::Force},
       {"system_status", "InstanceUnhealthy", "The instance's host fails EC2's system status check",
        Action::Force},
       {"event_status", "InstanceUnhealthy",
        "EC2 has planned to reboot, stop, retire or maintain the instance's host", Action::Drain}}};
  return kWordings[static_cast<std::size_t>(kind)];
}

}  // namespace

std::string_view to_string(InterruptionKind kind) {
  return wording_of(kind).kind;
}

InstanceNotice notice_of(InterruptionKind kind, std::string provider_id) {
  const auto& wording = wording_of(kind);
  return {.provider_id = std::move(provider_id),
          .kind = std::string(wording.kind),
          .reason = std::string(wording.reason),
          .message = std::string(wording.message),
          .action = wording.action};
}

Interruption parse_interruption(std::string_view body) {
  Interruption result;
  const auto parsed = model::parse_json(body);
  if (!parsed || model::text_at(*parsed, "version") != "0") {
    return result;
  }
  const auto source = model::text_at(*parsed, "source");
  const auto type = model::text_at(*parsed, "detail-type");
  const auto* detail = model::find_path(*parsed, "detail");
  if (detail == nullptr) {
    return result;
  }
  for (const auto& known : kEventSources) {
    if (known.source == source && known.detail_type == type) {
      result.kind = known.kind;
    }
  }
  if (result.kind == InterruptionKind::InstanceStopped) {
    result.kind = kind_of_state(model::text_at(*detail, "state"));
  }
  if (result.kind == InterruptionKind::ScheduledChange) {
    const bool about_us = model::text_at(*detail, "service") == "EC2" &&
                          model::text_at(*detail, "eventTypeCategory") == "scheduledChange";
    result.kind = about_us ? result.kind : InterruptionKind::None;
    result.instances = affected_instances(*detail);
  } else if (const auto id = model::text_at(*detail, "instance-id"); !id.empty()) {
    result.instances.emplace_back(id);
  }
  if (result.kind == InterruptionKind::None || result.instances.empty()) {
    return {};
  }
  result.happened = base::parse_rfc3339(model::text_at(*parsed, "time"));
  return result;
}

}  // namespace millwright::cloud::aws
