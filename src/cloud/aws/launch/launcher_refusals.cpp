// Launches that EC2 refuses: marks the offerings that are sold out and explains the failure.
#include "cloud/aws/launch/launcher.hpp"

#include <algorithm>

namespace millwright::cloud::aws {
namespace {

using base::ErrorKind;

constexpr std::size_t kShownErrors = 5;
constexpr std::string_view kReservationFull = "ReservationCapacityExceeded";
constexpr std::string_view kNoSpotRole = "AuthFailure.ServiceLinkedRoleCreationNotPermitted";

// The spread placement group has all its instances of the zone: that is a limit of the group, whose
// message is "You've reached the limit of instances in this spread placement group".
bool is_full_spread(const FleetError& error) {
  return is_unfulfillable(error.code) && !error.zone.empty() &&
         error.message.find("spread placement group") != std::string::npos;
}

}  // namespace

std::string Launcher::reservation_of(const LaunchPlan& plan, std::string_view type,
                                     std::string_view zone) {
  for (const auto& group : plan.groups) {
    for (const auto& option : group.options) {
      if (option.type == type && option.zone == zone) {
        return group.reservation_id;
      }
    }
  }
  return {};
}

base::Error Launcher::explain(const model::NodeClaim& claim, const FleetAnswer& answer) {
  const bool sold_out =
      std::all_of(answer.errors.begin(), answer.errors.end(), [](const FleetError& error) {
        return is_unfulfillable(error.code) || error.code == kNoSpotRole;
      });
  base::Error result;
  result.kind = answer.errors.empty() || sold_out ? ErrorKind::NoCapacity
                                                  : kind_of(answer.errors.front().code, 400);
  for (const auto& error : answer.errors) {
    if (!sold_out && !is_unfulfillable(error.code)) {
      result.kind = kind_of(error.code, 400);
      break;
    }
  }
  result.message = "NodeClaim " + claim.meta.name + ": EC2 launched " +
                   (answer.instances.empty() ? "nothing" : "too few");
  std::size_t shown = 0;
  std::vector<std::string> said;
  for (const auto& error : answer.errors) {
    auto text = error.code + " (" + error.message + ")";
    if (std::find(said.begin(), said.end(), text) == said.end() && shown++ < kShownErrors) {
      result.message.append(shown == 1 ? ": " : "; ").append(text);
      if (!error.type.empty()) {
        result.message.append(" for ").append(error.type).append(" in ").append(error.zone);
      }
      said.push_back(std::move(text));
    }
  }
  return result;
}

void Launcher::note_errors(const FleetAnswer& answer, const LaunchPlan& plan) {
  const std::string_view capacity_type = plan.capacity_type;
  const MarkScope scope{.placement_group = plan.placement_group, .partition = plan.partition};
  const auto now = parts_.api.loop().now();
  bool marked = false;
  for (const auto& error : answer.errors) {
    auto& unavailable = parts_.catalog.unavailable();
    if (error.code == kNoSpotRole) {
      unavailable.mark("", "", model::kSpot, now);
      marked = true;
    } else if (error.code == kReservationFull) {
      parts_.catalog.reservations().set_full(reservation_of(plan, error.type, error.zone));
      marked = true;
    } else if (is_full_spread(error) && !plan.placement_group.empty()) {
      // The limit holds for all types and capacity types of the group in the zone.
      for (const auto of : {model::kSpot, model::kOnDemand, model::kReserved}) {
        unavailable.mark("", error.zone, of, now, scope);
      }
      marked = true;
    } else if (is_unfulfillable(error.code)) {
      unavailable.mark(error.type, error.zone, capacity_type, now, scope);
      if (error.code == "InsufficientFreeAddressesInSubnet" && !error.zone.empty()) {
        unavailable.mark("", error.zone, capacity_type, now);
      }
      marked = true;
    }
    parts_.metrics.count("karpenter_cloudprovider_instance_launch_failures_total",
                         "Launches that AWS refused, by its code.", {{"reason", error.code}});
  }
  if (marked) {
    parts_.restock.marked();
  }
}

}  // namespace millwright::cloud::aws
